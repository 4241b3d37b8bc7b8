"""Vectors and bare memory for compiled code.

Numba leaves it to the compiler to find the loops that can become vector instructions. Where several arrays might
overlap, or a loop is short, the compiler finds few. A vector is explicit: it holds as many numbers as fill a cache
line, and one instruction works on all of them. A pointer is an array without shape and owner; `pointer` makes one of a
contiguous array of any shape, or of another pointer. Both exist in compiled code only. The functions below read, write
and combine vectors.

The operators are + - * between vectors of one kind, / < <= > == != between doubles, > == between integers and & between
masks. Vectors that start at a multiple of BYTES are the fastest. Nothing checks bounds, and a pointer does not keep its
array alive: take it in a function to which the array is an argument. A CPU with shorter vectors uses several.
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
_OF = {types.float64: DOUBLES, types.float32: SINGLES, types.int64: INTEGERS}


@register_model(Vector)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, vector):
        super().__init__(manager, vector, vector.llvm)


@intrinsic
def pointer(typing, memory, start):
    """The memory from element start on."""
    is_array = isinstance(memory, types.Array)
    if is_array and memory.layout != "C":
        raise TypingError(f"{memory} is not contiguous")

    def code(context, builder, signature, args):
        base = context.make_array(memory)(context, builder, args[0]).data if is_array else args[0]
        return builder.gep(base, [args[1]], inbounds=True)

    return types.CPointer(memory.dtype)(memory, types.int64), code


@intrinsic
def cut(typing, memory, sizes):
    """Pointers to consecutive parts of these sizes: the first is `memory`, each other is where the last part ends."""
    parts = types.UniTuple(memory, len(sizes))

    def code(context, builder, signature, args):
        starts = [args[0]]
        for part in range(len(sizes) - 1):
            starts.append(builder.gep(starts[-1], [builder.extract_value(args[1], part)], inbounds=True))
        return context.make_tuple(builder, parts, starts)

    return parts(memory, sizes), code


def _load(builder, memory, vector, args):
    """The i-th vector of this type; addresses are aligned to the size of an element."""
    return builder.load(_address(builder, vector, args), align=memory.dtype.bitwidth // 8)


def _address(builder, vector, args):
    pointer, i = args
    address = builder.gep(pointer, [builder.mul(i, ir.Constant(i.type, vector.count))], inbounds=True)
    return builder.bitcast(address, vector.as_pointer())


@intrinsic
def load(typing, memory, i):
    """The i-th vector behind a pointer."""
    vector = _OF[memory.dtype]
    return vector(memory, types.int64), lambda _, builder, signature, args: _load(builder, memory, vector.llvm, args)


@intrinsic
def store(typing, memory, i, vector):
    """Write the i-th vector."""

    def code(context, builder, signature, args):
        builder.store(args[2], _address(builder, vector.llvm, args[:2]), align=memory.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(memory, types.int64, _OF[memory.dtype]), code


@intrinsic
def doubles(typing, memory, i):
    """The i-th LANES numbers, as float64."""

    def code(context, builder, signature, args):
        numbers = _load(builder, memory, ir.VectorType(_OF[memory.dtype].llvm.element, LANES), args)
        return numbers if memory.dtype == types.float64 else builder.fpext(numbers, DOUBLES.llvm)

    return DOUBLES(memory, types.int64), code


@intrinsic
def gather(typing, memory, index, start):
    """Element index[k] + start in lane k, of float64 or int64."""
    vector = _OF[memory.dtype]

    def code(context, builder, signature, args):
        base = builder.gep(args[0], [args[2]], inbounds=True)
        result = ir.Constant(vector.llvm, ir.Undefined)
        for k in range(LANES):
            lane = ir.Constant(ir.IntType(32), k)
            address = builder.gep(base, [builder.extract_element(args[1], lane)], inbounds=True)
            result = builder.insert_element(result, builder.load(address), lane)
        return result

    return vector(memory, INTEGERS, types.int64), code


def _filled(builder, vector, number):
    undefined = ir.Constant(vector.llvm, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.llvm.count), None)
    return builder.shuffle_vector(first, undefined, zeros)


@intrinsic
def fill(typing, number):
    """A number in every lane."""
    vector = INTEGERS if isinstance(number, types.Integer) else _OF[number]
    return vector(vector.kind), lambda _, builder, signature, args: _filled(builder, vector, args[0])


@intrinsic
def fill_like(typing, memory, number):
    """A number in every lane of a vector of the type of this memory."""
    vector = _OF[memory.dtype]
    return vector(memory, vector.kind), lambda _, builder, signature, args: _filled(builder, vector, args[1])


@intrinsic
def lane_numbers(typing):
    """The number of each lane: 0, 1, 2, ..."""
    return INTEGERS(), lambda *_: ir.Constant(INTEGERS.llvm, list(range(LANES)))


@intrinsic
def select(typing, mask, first, second):
    """The first where the mask holds, and the second elsewhere."""
    return first(MASK, first, first), lambda _, builder, signature, args: builder.select(*args)


@intrinsic
def anywhere(typing, mask):
    """True if the mask holds in some lane."""

    def code(context, builder, signature, args):
        bits = builder.bitcast(args[0], ir.IntType(mask.llvm.count))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(mask), code


def _fold(builder, vector, combine):
    """Combine the halves of a vector until one number is left."""
    lanes = vector.type.count
    while lanes > 1:
        lanes //= 2
        halves = [
            builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), lanes), list(half)))
            for half in (range(lanes), range(lanes, 2 * lanes))
        ]
        vector = combine(*halves)
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


@intrinsic
def total(typing, vector):
    """The sum of all lanes."""
    method = "add" if vector == INTEGERS else "fadd"
    return vector.kind(vector), lambda _, builder, signature, args: _fold(builder, *args, getattr(builder, method))


@intrinsic
def minimum(typing, vector):
    """The least of all lanes."""

    def code(context, builder, signature, args):
        compare = builder.icmp_signed if vector == INTEGERS else builder.fcmp_ordered
        return _fold(builder, args[0], lambda a, b: builder.select(compare("<", a, b), a, b))

    return vector.kind(vector), code


def _define(symbol, kind, result, method, *first):
    """Give an operator a meaning between two vectors of a kind: the method of LLVM's builder of this name."""

    @intrinsic
    def apply(typing, left, right):
        def code(context, builder, signature, args):
            return getattr(builder, method)(*first, *args)

        return result(kind, kind), code

    @overload(symbol)
    def meaning(left, right):
        return (lambda left, right: apply(left, right)) if left == kind and right == kind else None


for _symbol, _name in ((operator.add, "add"), (operator.sub, "sub"), (operator.mul, "mul")):
    _define(_symbol, INTEGERS, INTEGERS, _name)
    _define(_symbol, DOUBLES, DOUBLES, "f" + _name)
    _define(_symbol, SINGLES, SINGLES, "f" + _name)
_define(operator.truediv, DOUBLES, DOUBLES, "fdiv")
for _symbol, _sign in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.eq, "==")):
    _define(_symbol, DOUBLES, MASK, "fcmp_ordered", _sign)
_define(operator.ne, DOUBLES, MASK, "fcmp_unordered", "!=")
for _symbol, _sign in ((operator.gt, ">"), (operator.eq, "==")):
    _define(_symbol, INTEGERS, MASK, "icmp_signed", _sign)
_define(operator.and_, MASK, MASK, "and_")
