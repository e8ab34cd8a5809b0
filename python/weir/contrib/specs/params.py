"""The words of parameters that are drawn: ``n = Li(5, 500); d = Ui(1, 5)``. Functions of `math` are there, too."""

import math
import random


def Uf(lo=0.0, hi=1.0):
    """A number, all equally likely."""
    return random.uniform(lo, hi)


def Ui(lo, hi):
    """A whole number from ``lo`` to ``hi``, both included."""
    return random.randint(lo, hi)


def Lf(lo, hi):
    """A number whose logarithm is uniform."""
    return math.exp(random.uniform(math.log(lo), math.log(hi)))


def Li(lo, hi):
    """A whole number from ``lo`` to ``hi`` whose logarithm is nearly uniform."""
    return min(int(Lf(lo, hi + 1)), hi)


def Nt(mu, sigma, limit=3.0):
    """A normal number, at most ``limit`` standard deviations from the mean."""
    return mu + sigma * max(-limit, min(random.gauss(0, 1), limit))
