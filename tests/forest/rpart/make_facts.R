# Fit small classification trees with rpart and write what it prints about them as JSON.
#
#     Rscript make_facts.R [directory]
#
# Nothing here is random: the same versions of R, rpart and jsonlite write the same files.

library(rpart)
library(jsonlite)

args <- commandArgs(trailingOnly = TRUE)
directory <- if (length(args) > 0) args[1] else "."

# The table of a case: the first column is the class, a factor; the others are numbers or plain factors.
cases <- list(
  iris = list(
    source = "datasets::iris",
    table = iris[c("Species", "Sepal.Length", "Sepal.Width", "Petal.Length", "Petal.Width")],
    minsplit = 4, minbucket = 2
  ),
  kyphosis = list(
    source = "rpart::kyphosis",
    table = kyphosis[c("Kyphosis", "Age", "Number", "Start")],
    minsplit = 6, minbucket = 3
  ),
  infert = list(
    source = "datasets::infert, the numbers of abortions as factors",
    table = with(infert, data.frame(
      case = factor(case), education, age, parity,
      induced = factor(induced), spontaneous = factor(spontaneous)
    )),
    minsplit = 10, minbucket = 5
  ),
  mtcars = list(
    source = "datasets::mtcars, class gear; cyl, vs and carb as factors",
    table = with(mtcars, data.frame(
      gear = factor(gear), mpg, cyl = factor(cyl), disp, qsec, vs = factor(vs), carb = factor(carb)
    )),
    minsplit = 4, minbucket = 2
  ),
  airquality = list(
    source = "datasets::airquality, class Temp up to 72, up to 82 or above; Month as factor",
    table = with(airquality, data.frame(
      heat = cut(Temp, c(0, 72, 82, Inf), labels = c("cool", "mild", "hot")),
      Ozone, Solar.R, Wind, Month = factor(Month)
    )),
    minsplit = 6, minbucket = 3
  ),
  stagec = list(
    source = "rpart::stagec, class pgstat; eet and ploidy as factors",
    table = with(stagec, data.frame(
      pgstat = factor(pgstat), age, eet = factor(eet), g2, grade, gleason, ploidy
    )),
    minsplit = 6, minbucket = 3
  )
)

# The values of a column, categories as codes from 0.
codes <- function(column) if (is.factor(column)) as.integer(column) - 1L else column

# One row of fit$splits: where it sends the values of its feature.
describe <- function(fit, row, names) {
  split <- fit$splits[row, ]
  feature <- match(rownames(fit$splits)[row], names) - 1L
  if (abs(split[["ncat"]]) < 2) {
    below <- if (split[["ncat"]] < 0) "left" else "right"
    list(feature = feature, type = "continuous", threshold = split[["index"]], below = below)
  } else {
    # fit$csplit: 1 is left, 3 is right, 2 is a category that no row counted here has.
    sides <- fit$csplit[split[["index"]], seq_len(split[["ncat"]])]
    list(
      feature = feature, type = "categorical",
      left = I(which(sides == 1) - 1L), right = I(which(sides == 3) - 1L)
    )
  }
}

# The nodes in rpart's order, a node before its left and then its right branch.
flatten <- function(fit, names) {
  frame <- fit$frame
  numbers <- as.integer(rownames(frame))
  n_classes <- length(attr(fit, "ylevels"))
  row <- 0
  lapply(seq_len(nrow(frame)), function(i) {
    node <- list(
      node = numbers[i], n = frame$n[i],
      counts = I(as.integer(frame$yval2[i, 1 + seq_len(n_classes)])), class = as.integer(frame$yval[i]) - 1L
    )
    if (frame$var[i] == "<leaf>") return(c(node, leaf = TRUE))
    primary <- c(
      describe(fit, row + 1, names),
      n = fit$splits[[row + 1, "count"]], improve = fit$splits[[row + 1, "improve"]]
    )
    first <- row + 1 + frame$ncompete[i]
    surrogates <- lapply(first + seq_len(frame$nsurrogate[i]), function(r) c(
      describe(fit, r, names),
      agree = fit$splits[[r, "improve"]], adj = fit$splits[[r, "adj"]], used = fit$splits[[r, "count"]]
    ))
    row <<- first + frame$nsurrogate[i]
    n_left <- frame$n[numbers == 2 * numbers[i]]
    n_right <- frame$n[numbers == 2 * numbers[i] + 1]
    majority <- if (n_left > n_right) "left" else if (n_left < n_right) "right" else NA
    c(node, leaf = FALSE, list(primary = primary, surrogates = surrogates, majority = majority))
  })
}

# Rows of the table with every pattern of missing features, `each` rows of a pattern.
with_missing <- function(x, each = 5) {
  n <- nrow(x)
  patterns <- as.matrix(expand.grid(rep(list(c(FALSE, TRUE)), ncol(x))))
  rows <- as.vector(outer(floor((seq_len(each) - 1) * n / each), 3 * seq_len(nrow(patterns)), "+")) %% n + 1
  queries <- x[rows, , drop = FALSE]
  for (j in seq_len(ncol(x))) queries[rep(patterns[, j], each = each), j] <- NA
  queries
}

# The number of the node in which each row ends: a prediction of the tree whose values are node numbers.
routed <- function(fit, x) {
  fit$frame$yval <- as.numeric(rownames(fit$frame))
  unname(as.integer(predict(fit, x, type = "vector")))
}

for (name in names(cases)) {
  case <- cases[[name]]
  table <- case$table
  x <- table[-1]
  control <- rpart.control(
    minsplit = case$minsplit, minbucket = case$minbucket, cp = 0, maxcompete = 0, maxsurrogate = 99,
    usesurrogate = 2, surrogatestyle = 1, maxdepth = 3, xval = 0
  )
  fit <- rpart(
    reformulate(names(x), names(table)[1]), table,
    method = "class", parms = list(split = "gini"), control = control
  )
  stopifnot(length(fit$where) == nrow(table), !anyNA(table[[1]]))
  queries <- with_missing(x)
  facts <- list(
    case = name, source = case$source,
    versions = list(R = as.character(getRversion()), rpart = as.character(packageVersion("rpart"))),
    control = c(control, split = "gini"), prior = as.numeric(fit$parms$prior),
    features = lapply(names(x), function(feature) c(
      list(name = feature, type = if (is.factor(x[[feature]])) "categorical" else "continuous"),
      if (is.factor(x[[feature]])) list(n_levels = nlevels(x[[feature]]), levels = levels(x[[feature]])),
      list(values = codes(x[[feature]]))
    )),
    classes = list(name = names(table)[1], levels = levels(table[[1]]), values = codes(table[[1]])),
    nodes = flatten(fit, names(x)),
    rows = list(node = as.integer(rownames(fit$frame))[fit$where]),
    queries = list(
      values = unname(lapply(queries, codes)), node = routed(fit, queries),
      class = unname(as.integer(predict(fit, queries, type = "class"))) - 1L
    )
  )
  path <- file.path(directory, paste0(name, ".json"))
  write(toJSON(facts, auto_unbox = TRUE, na = "null", digits = NA, pretty = TRUE), path)
}
