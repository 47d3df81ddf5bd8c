"""What kernels know of a batch of playouts. It goes through three steps, with the rules and the evaluator between them:

select   walk down from the roots, counting visits; a ROW for each playout whose value is not known
enter    rows whose ends the rules have looked at become nodes, are backed up or are undone
back_up  nodes that were evaluated get their edges, and the playouts that waited for them are backed up
"""

from typing import Final, NamedTuple

import numpy as np

from pydlshogi.support.arrays import BoolArray, Int32Array, Records, Uint64Array
from pydlshogi.uct.puct import Puct
from pydlshogi.uct.tree import Tree

MAX_BATCH: Final = 1024
"""Most playouts of one tree in one batch."""
MAX_DEPTH: Final = 256
"""A playout that gets this deep ends with the mean value of the node there."""

FOLLOWED: Final = -2
"""`child` of an edge that a playout under way took first, until `enter` links it to its end."""

# How a playout ended.
DESCENDING: Final = -1
NEW: Final = 0
"""At an edge that leads to no node yet."""
AGAIN: Final = 1
"""At a LEAF, which is to be evaluated once more; or at a root, which has no evaluation."""
REPEATED: Final = 2
"""At a node whose board stood before on its own path, or in the game."""
COLLIDED: Final = 3
"""At a node that awaits its evaluation."""
KNOWN: Final = 4
"""At a known value."""

# What becomes of a playout.
UNDO: Final = 0
"""It ended where an evaluation is awaited already: its visits do not count."""
BACK_UP: Final = 1
"""Its value is known."""
ASK: Final = 2
"""Its value comes with the evaluation of its end, which it asks for."""
WAIT: Final = 3
"""Its value comes with an evaluation that another playout of its batch asks for."""

ROOT: Final = np.dtype(
    [
        ("node", np.int32),  # NONE: no tree
        ("ply", np.int32),
        ("past", np.int32),  # how many positions the game has been through before
        ("playouts", np.int32),  # begun since the root was set, without those that were undone
        ("deepest", np.int32),  # plies to the deepest leaf since then
    ],
    align=True,
)
ROW: Final = np.dtype(
    [
        ("key", np.uint64),
        ("board_key", np.uint64),
        ("value", np.float64),  # for the side to move where it ends
        ("tree", np.int32),  # which root it began at
        ("first", np.int32),  # its first step
        ("length", np.int32),  # how many steps it has
        ("node", np.int32),  # where it ends, or NONE
        ("request", np.int32),  # the evaluation it waits for, or NONE
        ("count", np.int32),  # legal moves where it ends
        ("edges", np.int32),  # the first of those reserved for the node where it ends, or NONE
        ("known", np.float32),  # what lasts of the first evaluation of the node where it ends; nan: there was none
        ("verdict", np.int16),  # of the rules, see game.py
        ("move", np.uint16),  # its last
        ("ending", np.int8),
        ("fate", np.int8),
        ("by_path", np.bool_),  # the verdict holds for this path only
        ("expands", np.bool_),  # the node gets its edges with the evaluation asked for
    ],
    align=True,
)
STEP: Final = np.dtype([("board_key", np.uint64), ("node", np.int32), ("edge", np.int32)], align=True)


CONSTANTS: Final = np.dtype([(name, np.float64) for name in Puct._fields])


def constants(puct: Puct) -> Records:
    """The constants of selection as one record of CONSTANTS, in an array as kernels take it."""
    return np.array([puct], CONSTANTS)


class Walk(NamedTuple):
    """What a batch of playouts begins with."""

    tree: Tree
    roots: Records
    """ROOT"""
    wanted: Int32Array
    """int32 [trees]: how many playouts to begin in each."""
    puct: Records
    """CONSTANTS: one."""
    only: BoolArray
    """As `Search.only`."""
    past: Uint64Array
    """uint64 [trees, most]: the board keys of the games before their roots, the oldest first."""
    residues: Uint64Array
    """uint64 [trees, RESIDUE_WORDS]: see `residues_of`."""
    salts: Uint64Array
    """uint64 [trees]: they keep the nodes of different trees apart."""
    repeats: bool
    """Whether a position can occur twice in a game."""
    freed: int
    """How many nodes without references to free before, at most."""
