Timed=time_optimal=time_uniform=None
