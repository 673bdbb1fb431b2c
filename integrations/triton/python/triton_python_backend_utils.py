"""What `import triton_python_backend_utils as pb_utils` is in a model.py."""

from _multipy_triton_config import (
    ModelConfig,
    get_input_config_by_name,
    get_output_config_by_name,
    using_decoupled_model_transaction_policy,
)
from _multipy_triton_log import Logger
from _multipy_triton_metrics import Metric, MetricFamily
from _multipy_triton_models import is_model_ready, load_model, unload_model
from _multipy_triton_requests import (
    TRITONSERVER_MEMORY_CPU,
    TRITONSERVER_MEMORY_GPU,
    TRITONSERVER_REQUEST_FLAG_SEQUENCE_END,
    TRITONSERVER_REQUEST_FLAG_SEQUENCE_START,
    TRITONSERVER_REQUEST_RELEASE_ALL,
    TRITONSERVER_REQUEST_RELEASE_RESCHEDULE,
    InferenceRequest,
    InferenceTrace,
    PreferredMemory,
    get_input_tensor_by_name,
)
from _multipy_triton_residents import of_caller
from _multipy_triton_responses import (
    TRITONSERVER_RESPONSE_COMPLETE_FINAL,
    InferenceResponse,
    TritonError,
    get_output_tensor_by_name,
)
from _multipy_triton_server import TritonModelException
from _multipy_triton_tensor import Tensor
from _multipy_triton_types import (
    TRITON_STRING_TO_NUMPY,
    deserialize_bytes_tensor,
    numpy_to_triton_type,
    serialize_byte_tensor,
    triton_string_to_numpy,
    triton_to_numpy_type,
)


def get_model_dir():
    """The folder of this version of the model, which has model.py."""
    resident = of_caller()
    return None if resident is None else resident.folder
