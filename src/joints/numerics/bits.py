"""Bits of 64-bit words: ordinary functions, for which compiled code takes one instruction of the processor."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload


def ones(word: Any) -> int:
    """Number of one bits of a uint64."""
    return int(word).bit_count()


def trailing_zeros(word: Any) -> int:
    """Number of zero bits below the lowest one of a uint64 (64 where there is none)."""
    word = int(word)
    return (word & -word).bit_length() - 1 if word else 64


@intrinsic
def _ones(typingctx, word):
    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic
def _trailing_zeros(typingctx, word):
    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@overload(ones, inline="always")
def _compiled_ones(word):
    return lambda word: _ones(word)


@overload(trailing_zeros, inline="always")
def _compiled_trailing_zeros(word):
    return lambda word: _trailing_zeros(word)
