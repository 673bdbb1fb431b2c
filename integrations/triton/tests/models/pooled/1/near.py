OF = "pooled"
