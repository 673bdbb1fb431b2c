OF = "pooled_apart"
