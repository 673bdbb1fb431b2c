import triton_python_backend_utils as pb_utils

OF = "pooled"


def folder():
    return pb_utils.get_model_dir()
