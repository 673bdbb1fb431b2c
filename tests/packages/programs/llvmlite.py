import ctypes

from llvmlite import binding, ir

binding.initialize_native_target()
binding.initialize_native_asmprinter()
module = ir.Module("m")
integer = ir.IntType(64)
function = ir.Function(module, ir.FunctionType(integer, [integer, integer]), "multiply")
builder = ir.IRBuilder(function.append_basic_block())
builder.ret(builder.mul(*function.args))
parsed = binding.parse_assembly(str(module))
parsed.verify()
engine = binding.create_mcjit_compiler(parsed, binding.Target.from_default_triple().create_target_machine())
engine.finalize_object()
multiply = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(engine.get_function_address("multiply"))
print(module, multiply(6, 7))
