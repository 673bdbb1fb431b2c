"""What of torch and transformers is lazy in slim interpreters (InterpreterOptions::slimTorch).

A model that is called eagerly uses tensors, torch.nn and autograd. The rest, more than
half of what `import torch` executes, is executed when it is first used
(_multipy_finder.py, _multipy_lazy_modules.py).

How the table was made: one module after the other of those that take memory was
made lazy, until torch's start touched none of them any more. Nothing in it is needed for
correctness: a module that is missing here is executed at once, and a use of one that is
here executes it. What is needed are the hooks: what those modules do to others while they
are executed. They were found by comparing what can be seen without them after a plain and
a slim import: the dispatcher's registrations, operators, pytree's types, torch's names.

transformers imports nearly all of that, and what a few of its models or features use: so its own
imports are lazy, too (Package.importers), and of itself what serving a model may not
come to: each module of generation, integrations, losses is one that is executed when used.
"""

import importlib
import sys

import _multipy_finder as finder
import _multipy_lazy_modules as lazy_modules
import _multipy_slim_parts as parts
import _multipy_slim_types as types_of_objects
from _multipy_lazy_names import names_of
from _multipy_slim_compiler import Decorations, trace_real_objects
from _multipy_slim_meta import MetaKernels

_C10D = "torch.distributed.distributed_c10d"
_REGISTER_PROCESS_GROUP = "_register_process_group_opaque_type"

_GROUPS = {
    # Graphs, tracing, fake tensors, decompositions: each imports most of the others.
    "graphs": """torch._decomp torch._dispatch torch._export
        torch._functorch torch._higher_order_ops torch._native torch._prims torch._refs
        torch._library.fake_profile torch._prims_common.wrappers torch._meta_registrations
        torch._subclasses torch.export torch.func torch.fx torch.nested torch.utils._debug_mode
        torch.utils._thunk torch.utils.checkpoint""",
    "operators": "torch._library.custom_ops torch._library.infer_schema torch._library.triton",
    "older operators": "torch._custom_op torch._custom_ops",
    "distributed": """torch._C._distributed_autograd torch._C._distributed_c10d
        torch._C._distributed_rpc torch.distributed torch.monitor""",
    "parallel": "torch.nn.parallel",
    "quantization": """torch.ao torch.nn.intrinsic torch.nn.qat torch.nn.quantizable
        torch.nn.quantized torch.quantization""",
    "torchscript": "torch.jit",
}
# Each a group of its own.
_ALONE = """
    torch._guards torch._linalg_utils torch._lobpcg torch._strobelight torch._tensor_iterator
    torch.autograd.profiler_legacy torch.compiler._cache torch.cuda._memory_viz torch.cuda.jiterator
    torch.cuda.nccl torch.cuda.nvtx torch.cuda.tunable torch.distributions torch.hub torch.masked
    torch.mps torch.mtia torch.optim torch.package torch.profiler torch.quasirandom torch.signal
    torch.sparse torch.special torch.testing torch.utils._appending_byte_serializer
    torch.utils._content_store torch.utils.backend_registration torch.utils.bundled_inputs
    torch.utils.cpp_extension torch.utils.data torch.utils.model_zoo torch.xpu torchgen
    argparse asyncio email http importlib.metadata._adapters shutil ssl tarfile tempfile timeit
    tqdm unittest urllib
    numpy.ctypeslib numpy.fft numpy.ma numpy.polynomial numpy.random
"""
# What packages import on top of that, and use where something is compiled or exported, or in few
# of their models.
_OF_STACKS = """
    torch._dynamo torch._inductor torch._numpy torch.onnx
    anyio h11 httpcore httpcore2 httpx httpx2 jinja2 mpmath pandas PIL requests scipy sklearn sympy
    yaml
"""
_OF_TRANSFORMERS = """
    accelerate peft
    huggingface_hub._commit_api huggingface_hub._snapshot_download huggingface_hub.file_download
    huggingface_hub.hf_api huggingface_hub.repocard huggingface_hub.repocard_data
    huggingface_hub.serialization huggingface_hub.utils._headers huggingface_hub.utils._http
    transformers.distributed transformers.generation transformers.integrations transformers.loss
    transformers.quantizers transformers.safetensors_conversion
"""
_IMPORTERS = "accelerate diffusers peft sentence_transformers transformers"
# Of those groups, what torch's start itself uses.
_AT_ONCE = """
    torch._functorch.pyfunctorch torch.fx.experimental.sym_node torch.jit torch.jit._async
    torch.jit._builtins torch.jit._state torch.package._mangling
"""
# What plain Python's start comes to by way of lazy modules: names that programs find
# in modules which are not.
_FURTHER = """
    torch._custom_op torch._custom_ops torch._decomp torch._dispatch torch._environment
    torch._export torch._prims torch._refs torch._subclasses torch._tensor_iterator torch.monitor
    torch._library.fake_profile torch._native torch._prims_common.wrappers
    torch.autograd.profiler_legacy torch.cuda.nccl
    torch.fx.experimental.proxy_tensor torch._subclasses.functional_tensor
    torch._subclasses.schema_check_mode torch._subclasses.fake_tensor
    torch.nested._internal.nested_tensor
    torch.jit._check torch.jit._dataclass_impls torch.jit._monkeytype_config
    torch.jit._recursive torch.jit._state torch.jit.annotations torch.jit.frontend
    torch.utils._appending_byte_serializer torch.utils._config_module torch.utils._content_store
    torch.utils._debug_mode torch.utils._dtype_abbrs torch.utils._exposed_in
    torch.utils._import_utils torch.utils._inspect torch.utils._mode_utils torch.utils._stats
    torch.utils._thunk torch.utils._typing_utils torch.utils.checkpoint torch.utils.weak
"""


def _c_has(name):
    return hasattr(sys.modules["torch._C"], name)


def _generators_metaclass():
    try:
        return importlib.import_module("torch._custom_class_base").CustomClassBaseMeta
    except ModuleNotFoundError:  # before torch 2.14
        return importlib.import_module("torch._opaque_base").OpaqueBaseMeta


def _is_fake_tensor(x):
    """Of a tensor that C++ made; Python code that makes others has not been executed."""
    torch = sys.modules["torch"]
    return isinstance(x, torch.Tensor) and torch._C._is_fake_tensor(x)


def _no_fake_mode(inputs=None):
    """While torch._guards has not been executed there is none."""


class _Torch(finder.Package):
    name = "torch"
    groups = {
        # Registers kernels for meta tensors, and nothing else.
        "torch.distributed._meta_registrations": "graphs",
        **{prefix: group for group, prefixes in _GROUPS.items() for prefix in prefixes.split()},
        **{prefix: prefix for prefix in (_ALONE + _OF_STACKS + _OF_TRANSFORMERS).split()},
    }
    importers = frozenset(_IMPORTERS.split())
    at_once = frozenset(_AT_ONCE.split())
    further = _FURTHER.split()
    needs = {
        "torch.fx.experimental.sym_node": ("torch._logging",),
        "peft.tuners.tuners_utils": ("torch.distributed.tensor",),
    }
    made_by = {
        "torch._C._distributed_c10d": "torch.distributed",
        "torch._C._distributed_rpc": "torch.distributed.rpc",
        "torch._C._distributed_autograd": "torch.distributed.autograd",
    }
    decorations = Decorations()
    answers = {
        ("torch.distributed", "is_available"): lambda: _c_has("_c10d_init"),
        ("torch.distributed", "is_initialized"): lambda: False,
        ("torch.distributed.rpc", "is_available"): lambda: _c_has("_rpc_init"),
        **decorations.answers,
    }
    calls = {
        ("torch.jit._trace", "is_tracing"): lambda: sys.modules["torch"]._C._is_tracing(),
        **decorations.answers,
    }
    # torch.jit has its exceptions from there, and itself makes no use of them.
    raisers = frozenset(("torch.jit._script", "torch.jit._trace"))
    answers_at_start = {
        # Asked to add two functions to TorchScript's builtins: _complete_builtins() does.
        ("torch.distributed.autograd", "is_available"): lambda: False,
        # Registers a class of torch.distributed: _register_process_group() does (torch 2.14).
        (_C10D, _REGISTER_PROCESS_GROUP): lambda: None,
    }
    constants = frozenset({
        # torch.compiler lists it in the text of a docstring (torch 2.15).
        ("torch._higher_order_ops.invoke_subgraph", "_SUPPORTED_NESTED_REGION_INDUCTOR_CONFIG_KEYS"),
    })
    # What eager code asks no more of than whether something is an instance of it.
    lazy_names_in = {
        ("torch._guards", "active_fake_mode"): ("FakeTensorMode",),
        ("torch._guards", "detect_fake_mode"): (
            "FakeTensor",
            "FakeTensorMode",
            "get_plain_tensors",
            "maybe_get_fake_mode",
        ),
        ("torch._tensor", "__reduce_ex__"): ("FakeTensor",),
        ("torch._tensor", "_reduce_ex_internal"): ("FakeTensor", "FunctionalTensor"),
        ("torch._tensor_str", "_str_intern"): ("FakeTensor",),
        ("torch._tensor_str", "_tensor_str"): ("FakeTensor",),
        ("torch.autograd", "_calculate_shape"): ("NestedTensor",),
        ("torch.autograd", "_make_grads"): ("NestedTensor",),
        ("torch.nn.modules.module", "_apply"): ("FakeTensor",),
        ("torch.nn.modules.module", "register_buffer"): ("ScriptModule",),
        # A default argument.
        ("diffusers.models.modeling_utils", "ModelMixin"): ("checkpoint",),
        ("peft.tuners.tuners_utils", "_get_in_out_features"): ("DTensor",),
        ("torch.utils._python_dispatch", "_disable_current_modes"): (
            "FunctionalTensorMode",
            "SchemaCheckMode",
            "ProxyTorchDispatchMode",
        ),
        ("transformers.distributed.fsdp", "is_fsdp_managed_module"): ("FullyShardedDataParallel",),
        ("transformers.distributed.utils", "is_dtensor"): ("DTensor",),
        ("transformers.utils.import_utils", "is_fake_tensor"): ("FakeTensor",),
        ("transformers.utils.import_utils", "is_torch_fx_proxy"): ("Proxy",),
    }
    # huggingface_hub imports its modules when it is asked for what is in them.
    handed_on = {
        ("huggingface_hub", "__getattr__"): (
            "_CACHED_NO_EXIST",
            "CommitOperationAdd",
            "HfApi",
            "ModelCard",
            "ModelCardData",
            "create_repo",
            "file_exists",
            "hf_hub_download",
            "hf_hub_url",
            "list_repo_files",
            "model_info",
            "snapshot_download",
            "split_torch_state_dict_into_shards",
            "try_to_load_from_cache",
        ),
        ("huggingface_hub.utils", "__getattr__"): (
            "build_hf_headers",
            "get_session",
            "hf_raise_for_status",
        ),
    }
    completed = {**parts.COMPLETED, **types_of_objects.COMPLETED}
    # What torch.library looks into when an operator goes.
    empty = frozenset({("torch.fx.operator_schemas", "_SCHEMA_TO_SIGNATURE_CACHE")})
    answers_in = {
        # The functions that a torch.device as a context gives its device to. Asked again when
        # there is a nested_tensor().
        ("torch.utils._device", "_device_constructors"): {"nested_tensor": object()},
        # torch 2.14 asks by a function.
        **dict.fromkeys(
            (
                ("torch._guards", "detect_fake_mode"),
                ("torch._tensor", "_reduce_ex_internal"),
                ("torch._tensor_str", "_str_intern"),
            ),
            {"is_fake_tensor": _is_fake_tensor},
        ),
        # Asked for each tensor that is loaded.
        **dict.fromkeys(
            (
                ("torch._utils", "_restore_device_fake_mode"),
                ("torch.serialization", "_legacy_load"),
                ("torch.serialization", "load_tensor"),
                ("torch.serialization", "persistent_load"),
            ),
            {"active_fake_mode": _no_fake_mode, "detect_fake_mode": _no_fake_mode},
        ),
    }

    answers_inside = {
        # A kind of string of torch.distributed's: _complete_types_of_operators() does.
        ("torch._library.infer_schema", "get_supported_param_types"): {"is_available": lambda: False},
    }

    def __init__(self):
        self._undo = []  # of what stands in for the group "graphs"
        self._meta_kernels = None

    def started(self):
        self._let_c_code_ask_once()
        self._let_there_be_generators()
        self._stand_in_for_c_modules()
        # A backend that torch loads at the end of its start may have used all of them.
        if not lazy_modules.is_done("graphs"):
            self._meta_kernels = MetaKernels()
            self._wait_for_operators()
            self._wait_for_sizes_in_trees()

    def before(self, group):
        if group == "torch._dynamo":
            lazy_modules.execute("graphs")  # which imports it, and not the other way round
        if group == "graphs":
            for undo in self._undo:
                undo()
            self._undo.clear()

    def after(self, group):
        if group == "torch._dynamo":
            self.decorations.apply()
            trace_real_objects()
        if group == "graphs":
            self._graphs_are_there()
        if group != "distributed":
            return
        if _c_has("_dist_autograd_init"):
            self._complete_builtins()
        self._register_process_group()
        self._complete_types_of_operators()

    def _let_c_code_ask_once(self):
        """The first number that meets a tensor makes torch look for numpy, within the
        initialisation of a static variable, for which other threads would wait with the
        GIL. Plain Python's start does so by chance."""
        sys.modules["torch"].zeros(1).add(1)

    def _let_there_be_generators(self):
        """torch._prims.rng_prims says what torch.Generator's metaclass is, and torch makes
        none without."""
        set_metaclass = getattr(sys.modules["torch._C"], "_set_generator_metaclass", None)
        if set_metaclass:
            set_metaclass(_generators_metaclass())

    def _stand_in_for_c_modules(self):
        torch_c = sys.modules["torch._C"]
        made = {
            "torch._C._distributed_c10d": "_c10d_init",
            "torch._C._distributed_rpc": "_rpc_init",
            "torch._C._distributed_autograd": "_dist_autograd_init",
        }
        if not _c_has("_c10d_init"):
            del self.answers["torch.distributed", "is_initialized"]  # which is not there
        # What pybind11 gives a module that is made when torch._C has been imported, from version 3 on.
        own = {key: value for key, value in vars(torch_c._autograd).items() if key == "__file__"}
        for name, function in made.items():
            if hasattr(torch_c, function):
                names_of(sys.modules[name]).update(own)
                setattr(torch_c, name.rpartition(".")[2], sys.modules[name])
            else:
                del sys.modules[name]

    def _graphs_are_there(self):
        if self._meta_kernels:
            self._meta_kernels.remove()
        if "torch.utils._device" in sys.modules:
            sys.modules["torch.utils._device"]._device_constructors.cache_clear()

    def _wait_for_operators(self):
        """Some are defined by lazy modules: torch.ops.prims.add, torch.ops.higher_order.cond."""
        torch = sys.modules["torch"]
        for name in ("prims", "rngprims", "debugprims", "debug_mode_ops", "export", "_native", "higher_order"):
            namespace = getattr(torch.ops, name)
            kind = type(namespace)

            def look_again(self, name, _kind=kind):
                lazy_modules.execute("graphs")
                return getattr(self, name)

            namespace.__class__ = type(kind.__name__, (kind,), {"__getattr__": look_again})
            self._undo.append(lambda namespace=namespace, kind=kind: setattr(namespace, "__class__", kind))

    def _wait_for_sizes_in_trees(self):
        """torch.fx.experimental.proxy_tensor makes torch.Size a kind of node of pytrees."""
        torch = sys.modules["torch"]
        pytree = sys.modules["torch.utils._pytree"]
        nodes = pytree.SUPPORTED_NODES

        def flatten(size):
            lazy_modules.execute("graphs")
            return nodes[torch.Size].flatten_fn(size)

        def unflatten(values, context):
            lazy_modules.execute("graphs")
            return nodes[torch.Size].unflatten_fn(values, context)

        nodes[torch.Size] = pytree.NodeDef(torch.Size, flatten, unflatten, None)
        self._undo.append(lambda: nodes.pop(torch.Size))

    def _complete_builtins(self):
        """TorchScript's table of the functions that it knows lacks these; see above."""
        known = sys.modules["torch.jit._builtins"]._get_builtin_table()
        autograd = sys.modules["torch.distributed.autograd"]
        known[id(autograd.get_gradients)] = "aten::get_gradients"
        known[id(autograd.backward)] = "aten::dist_backward"

    def _complete_types_of_operators(self):
        """The table of the types that a custom operator may have, if it is there."""
        module = sys.modules.get("torch._library.infer_schema")
        types_of_parameters = module and names_of(module).get("SUPPORTED_PARAM_TYPES")
        if types_of_parameters:
            types_of_parameters.update(module.get_supported_param_types())

    def _register_process_group(self):
        register = getattr(sys.modules[_C10D], _REGISTER_PROCESS_GROUP, None)
        if register:
            register()


def install(importers, modules):
    """From now on: torch is imported so, with further importers and further modules that are put off.
    Returns the finder that does it."""
    package = _Torch()
    package.importers = package.importers.union(importers)
    package.groups = {**package.groups, **{name: name for name in modules}}
    return finder.start_with(package)
