"""
Completing rows: half of an image
=================================

``sample`` takes rows with holes and draws what is missing, given what is there.  Here the lower halves of digits are
removed and drawn again; pixels are in their own units, so the smallest deviation is given in these.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from joints import GenerativeForestClassifier

X, y = load_digits(return_X_y=True)
gef = GenerativeForestClassifier(20, min_sd=1.0, relative_sd=False, random_state=0).fit(X[:1500], y[:1500])

upper = X[1500:1508].copy()
upper[:, 32:] = np.nan
drawn, classes = gef.sample(3, given=upper, random_state=1)
print("the class given the upper half:", gef.predict(upper), "and the truth:", y[1500:1508])

fig, axes = plt.subplots(5, 8, figsize=(7, 4.4), layout="constrained")
rows = [X[1500:1508], upper, *(drawn[i::3] for i in range(3))]
for line, images, title in zip(axes, rows, ("whole", "given", "drawn", "", ""), strict=True):
    for ax, image in zip(line, images, strict=True):
        ax.imshow(image.reshape(8, 8).clip(0, 16), cmap="Greys", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(title)
