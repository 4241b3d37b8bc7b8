"""Vectors for compiled code: as many numbers as fill a cache line, one instruction for all of them.

Numba leaves it to the compiler to find the loops that can become vector instructions, and where several arrays might
overlap, or a loop is short, it finds few. These types say it outright. They exist in compiled code only:

    load(array, i)              the i-th vector of an array, counted from its start
    store(array, i, vector)     and back
    gather(array, at, offset)   array.flat[at[k] + offset] in lane k; at is a vector of integers
    fill(x)                     x in every lane
    lane_numbers()              0, 1, 2, ...
    select(mask, a, b)          a where the mask holds, else b
    anywhere(mask)              whether it holds in some lane

and the operators + - * / < <= > >= == & |, between vectors of one kind. Arrays are contiguous and start at a multiple
of BYTES; nothing checks bounds. On a processor whose vectors are shorter, several make one.

After a change here, delete the compiled code: Numba's cache looks at the file of the kernel alone (`make clean`).
"""

import operator

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, overload, register_model

BYTES = 64
LANES = BYTES // 8  # of the vectors of float64 and int64


class Vector(types.Type):
    """Numba's type of a vector."""

    def __init__(self, kind, lanes, element):
        super().__init__(name=f"Vector({kind}, {lanes})")
        self.kind = kind
        self.llvm = ir.VectorType(element, lanes)


DOUBLES = Vector(types.float64, LANES, ir.DoubleType())
SINGLES = Vector(types.float32, 2 * LANES, ir.FloatType())
INTEGERS = Vector(types.int64, LANES, ir.IntType(64))
MASK = Vector(types.boolean, LANES, ir.IntType(1))
WIDE_MASK = Vector(types.boolean, 2 * LANES, ir.IntType(1))
_MASKS = {DOUBLES: MASK, INTEGERS: MASK, SINGLES: WIDE_MASK}
_OF = {types.float64: DOUBLES, types.float32: SINGLES, types.int64: INTEGERS}


@register_model(Vector)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, vector):
        super().__init__(manager, vector, vector.llvm)


def _kind(array):
    """The vectors of an array."""
    if array.layout != "C":
        raise TypingError(f"vectors need a contiguous array, not {array}")
    return _OF[array.dtype]


def _address(context, builder, kind, array, index):
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [index], inbounds=True)


def _vector_address(context, builder, kind, array, i):
    vector = _OF[kind.dtype].llvm
    at = _address(context, builder, kind, array, builder.mul(i, ir.Constant(i.type, vector.count)))
    return builder.bitcast(at, vector.as_pointer())


@intrinsic
def load(typing, array, i):
    def code(context, builder, signature, args):
        return builder.load(_vector_address(context, builder, array, *args), align=BYTES)

    return _kind(array)(array, types.int64), code


@intrinsic
def store(typing, array, i, vector):
    def code(context, builder, signature, args):
        builder.store(args[2], _vector_address(context, builder, array, *args[:2]), align=BYTES)
        return context.get_dummy_value()

    return types.void(array, types.int64, _kind(array)), code


@intrinsic
def gather(typing, array, at, offset):
    def code(context, builder, signature, args):
        start = _address(context, builder, array, args[0], args[2])
        result = ir.Constant(_OF[array.dtype].llvm, ir.Undefined)
        for k in range(LANES):
            lane = ir.Constant(ir.IntType(32), k)
            where = builder.gep(start, [builder.extract_element(args[1], lane)], inbounds=True)
            result = builder.insert_element(result, builder.load(where), lane)
        return result

    return _kind(array)(array, INTEGERS, types.int64), code


@intrinsic
def fill(typing, number):
    vector = INTEGERS if isinstance(number, types.Integer) else _OF[number]

    def code(context, builder, signature, args):
        undefined = ir.Constant(vector.llvm, ir.Undefined)
        first = builder.insert_element(undefined, args[0], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.llvm.count), None)
        return builder.shuffle_vector(first, undefined, zeros)

    return vector(vector.kind), code


@intrinsic
def lane_numbers(typing):
    def code(context, builder, signature, args):
        return ir.Constant(INTEGERS.llvm, list(range(LANES)))

    return INTEGERS(), code


@intrinsic
def select(typing, mask, one, other):
    def code(context, builder, signature, args):
        return builder.select(*args)

    return one(_MASKS[one], one, one), code


@intrinsic
def anywhere(typing, mask):
    def code(context, builder, signature, args):
        bits = builder.bitcast(args[0], ir.IntType(mask.llvm.count))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(mask), code


def _define(symbol, kind, result, method, *first):
    """Give an operator a meaning between two vectors of a kind: the method of LLVM's builder of this name."""

    @intrinsic
    def apply(typing, one, other):
        def code(context, builder, signature, args):
            return getattr(builder, method)(*first, *args)

        return result(kind, kind), code

    @overload(symbol)
    def meaning(one, other):
        return (lambda one, other: apply(one, other)) if one == kind and other == kind else None


for _symbol, _name in ((operator.add, "add"), (operator.sub, "sub"), (operator.mul, "mul")):
    _define(_symbol, INTEGERS, INTEGERS, _name)
    for _vector in (DOUBLES, SINGLES):
        _define(_symbol, _vector, _vector, "f" + _name)
for _vector in (DOUBLES, SINGLES):
    _define(operator.truediv, _vector, _vector, "fdiv")
    for _symbol, _sign in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")):
        _define(_symbol, _vector, _MASKS[_vector], "fcmp_ordered", _sign)
for _symbol, _sign in ((operator.lt, "<"), (operator.gt, ">"), (operator.eq, "==")):
    _define(_symbol, INTEGERS, MASK, "icmp_signed", _sign)
for _vector in (MASK, WIDE_MASK):
    _define(operator.and_, _vector, _vector, "and_")
    _define(operator.or_, _vector, _vector, "or_")
