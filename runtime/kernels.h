/* The kernels and, per ISA level, their faster variants: the lists that the struct types,
 * prototypes, tables of the host and tests are made of. */
#ifndef CTN_KERNELS_H
#define CTN_KERNELS_H

/* KERNEL(name, Struct, FIELDS) */
#define CTN_KERNELS(KERNEL)                                                                        \
    KERNEL(conv2d_s8, Conv2dS8, CTN_CONV2D_S8_FIELDS)                                              \
    KERNEL(depthwise_conv2d_s8, DepthwiseConv2dS8, CTN_DEPTHWISE_CONV2D_S8_FIELDS)                 \
    KERNEL(conv3d_s8, Conv3dS8, CTN_CONV3D_S8_FIELDS)                                              \
    KERNEL(conv_transpose2d_s8, ConvTranspose2dS8, CTN_CONV_TRANSPOSE2D_S8_FIELDS)                 \
    KERNEL(linear_s8, LinearS8, CTN_LINEAR_S8_FIELDS)                                              \
    KERNEL(matmul_s8, MatmulS8, CTN_MATMUL_S8_FIELDS)                                              \
    KERNEL(linear_s16, LinearS16, CTN_LINEAR_S16_FIELDS)                                           \
    KERNEL(conv2d_s16, Conv2dS16, CTN_CONV2D_S16_FIELDS)                                           \
    KERNEL(matmul_s16, MatmulS16, CTN_MATMUL_S16_FIELDS)                                           \
    KERNEL(max_pool2d_s16, MaxPool2dS16, CTN_MAX_POOL2D_S16_FIELDS)                                \
    KERNEL(max_pool2d_map_s16, MaxPool2dMapS16, CTN_MAX_POOL2D_MAP_S16_FIELDS)                     \
    KERNEL(avg_pool2d_s16, AvgPool2dS16, CTN_AVG_POOL2D_S16_FIELDS)                                \
    KERNEL(avg_pool2d_map_s16, AvgPool2dMapS16, CTN_AVG_POOL2D_MAP_S16_FIELDS)                     \
    KERNEL(reduce_sum_s16, ReduceSumS16, CTN_REDUCE_SUM_S16_FIELDS)                                \
    KERNEL(reduce_sum_map_s16, ReduceSumMapS16, CTN_REDUCE_SUM_MAP_S16_FIELDS)                     \
    KERNEL(softmax_s16, SoftmaxS16, CTN_SOFTMAX_S16_FIELDS)                                        \
    KERNEL(add_s8, AddS8, CTN_ADD_S8_FIELDS)                                                       \
    KERNEL(add_s16, AddS16, CTN_ADD_S16_FIELDS)                                                    \
    KERNEL(add_map_s16, AddMapS16, CTN_ADD_MAP_S16_FIELDS)                                         \
    KERNEL(mul_s8, MulS8, CTN_MUL_S8_FIELDS)                                                       \
    KERNEL(mul_s16, MulS16, CTN_MUL_S16_FIELDS)                                                    \
    KERNEL(mul_map_s16, MulMapS16, CTN_MUL_MAP_S16_FIELDS)                                         \
    KERNEL(div_s8, DivS8, CTN_DIV_S8_FIELDS)                                                       \
    KERNEL(div_s16, DivS16, CTN_DIV_S16_FIELDS)                                                    \
    KERNEL(minmax_s8, MinmaxS8, CTN_MINMAX_S8_FIELDS)                                              \
    KERNEL(minmax_s16, MinmaxS16, CTN_MINMAX_S16_FIELDS)                                           \
    KERNEL(integer, Integer, CTN_INTEGER_FIELDS)                                                   \
    KERNEL(quantize_integer, QuantizeInteger, CTN_QUANTIZE_INTEGER_FIELDS)                         \
    KERNEL(rescale, Rescale, CTN_RESCALE_FIELDS)                                                   \
    KERNEL(compare_s8, CompareS8, CTN_COMPARE_S8_FIELDS)                                           \
    KERNEL(compare_s16, CompareS16, CTN_COMPARE_S16_FIELDS)                                        \
    KERNEL(logical_s8, LogicalS8, CTN_LOGICAL_S8_FIELDS)                                           \
    KERNEL(where, Where, CTN_WHERE_FIELDS)                                                         \
    KERNEL(prelu_s8, PreluS8, CTN_PRELU_S8_FIELDS)                                                 \
    KERNEL(pointwise2_s8, Pointwise2S8, CTN_POINTWISE2_S8_FIELDS)                                  \
    KERNEL(table_s8, TableS8, CTN_TABLE_S8_FIELDS)                                                 \
    KERNEL(table_s16, TableS16, CTN_TABLE_S16_FIELDS)                                              \
    KERNEL(pieces_s16, PiecesS16, CTN_PIECES_S16_FIELDS)                                           \
    KERNEL(copy, Copy, CTN_COPY_FIELDS)                                                            \
    KERNEL(gather, Gather, CTN_GATHER_FIELDS)                                                      \
    KERNEL(move, Move, CTN_MOVE_FIELDS)                                                            \
    KERNEL(fill, Fill, CTN_FILL_FIELDS)                                                            \
    KERNEL(npu, Npu, CTN_NPU_FIELDS)                                                               \
    KERNEL(take, Take, CTN_TAKE_FIELDS)                                                            \
    KERNEL(upsample_bilinear2d_s8, UpsampleBilinear2dS8, CTN_UPSAMPLE_BILINEAR2D_S8_FIELDS)        \
    KERNEL(upsample_bilinear2d_s16, UpsampleBilinear2dS16, CTN_UPSAMPLE_BILINEAR2D_S16_FIELDS)     \
    KERNEL(max_pool2d_s8, MaxPool2dS8, CTN_MAX_POOL2D_S8_FIELDS)                                   \
    KERNEL(avg_pool2d_s8, AvgPool2dS8, CTN_AVG_POOL2D_S8_FIELDS)                                   \
    KERNEL(reduce_sum_s8, ReduceSumS8, CTN_REDUCE_SUM_S8_FIELDS)                                   \
    KERNEL(reduce_max_s8, ReduceMaxS8, CTN_REDUCE_MAX_S8_FIELDS)                                   \
    KERNEL(reduce_max_s16, ReduceMaxS16, CTN_REDUCE_MAX_S16_FIELDS)                                \
    KERNEL(reduce_max_map_s16, ReduceMaxMapS16, CTN_REDUCE_MAX_MAP_S16_FIELDS)                     \
    KERNEL(softmax_s8, SoftmaxS8, CTN_SOFTMAX_S8_FIELDS)                                           \
    KERNEL(masked_softmax_s8, MaskedSoftmaxS8, CTN_MASKED_SOFTMAX_S8_FIELDS)                       \
    KERNEL(log_softmax_s8, LogSoftmaxS8, CTN_LOG_SOFTMAX_S8_FIELDS)                                \
    KERNEL(layer_norm_s8, LayerNormS8, CTN_LAYER_NORM_S8_FIELDS)                                   \
    KERNEL(lstm_s8, LstmS8, CTN_LSTM_S8_FIELDS)                                                    \
    KERNEL(gru_s8, GruS8, CTN_GRU_S8_FIELDS)                                                       \
    KERNEL(rnn_s8, RnnS8, CTN_RNN_S8_FIELDS)                                                       \
    KERNEL(adaptive_max_indices_s8, AdaptiveMaxIndicesS8, CTN_ADAPTIVE_MAX_INDICES_S8_FIELDS)      \
    KERNEL(reduce_int, ReduceInt, CTN_REDUCE_INT_FIELDS)                                           \
    KERNEL(argmax, Argmax, CTN_ARGMAX_FIELDS)                                                      \
    KERNEL(cumsum_s8, CumsumS8, CTN_CUMSUM_S8_FIELDS)                                              \
    KERNEL(adaptive_pool2d_s8, AdaptivePool2dS8, CTN_ADAPTIVE_POOL2D_S8_FIELDS)                    \
    KERNEL(max_pool2d_indices_s8, MaxPool2dIndicesS8, CTN_MAX_POOL2D_INDICES_S8_FIELDS)            \
    KERNEL(program_f32, ProgramF32, CTN_PROGRAM_F32_FIELDS)                                        \
    KERNEL(program_erf_f32, ProgramErfF32, CTN_PROGRAM_ERF_F32_FIELDS)                             \
    KERNEL(program_exp_f32, ProgramExpF32, CTN_PROGRAM_EXP_F32_FIELDS)                             \
    KERNEL(program_basic_f32, ProgramBasicF32, CTN_PROGRAM_BASIC_F32_FIELDS)                       \
    KERNEL(conv_f32, ConvF32, CTN_CONV_F32_FIELDS)                                                 \
    KERNEL(matmul_f32, MatmulF32, CTN_MATMUL_F32_FIELDS)                                           \
    KERNEL(pool_f32, PoolF32, CTN_POOL_F32_FIELDS)                                                 \
    KERNEL(reduce_f32, ReduceF32, CTN_REDUCE_F32_FIELDS)                                           \
    KERNEL(cumsum_f32, CumsumF32, CTN_CUMSUM_F32_FIELDS)                                           \
    KERNEL(softmax_f32, SoftmaxF32, CTN_SOFTMAX_F32_FIELDS)                                        \
    KERNEL(layer_norm_f32, LayerNormF32, CTN_LAYER_NORM_F32_FIELDS)                                \
    KERNEL(resample2d_f32, Resample2dF32, CTN_RESAMPLE2D_F32_FIELDS)                               \
    KERNEL(grid_sample2d_f32, GridSample2dF32, CTN_GRID_SAMPLE2D_F32_FIELDS)                       \
    KERNEL(sort_f32, SortF32, CTN_SORT_F32_FIELDS)                                                 \
    KERNEL(quantize_s8, QuantizeS8, CTN_QUANTIZE_S8_FIELDS)                                        \
    KERNEL(dequantize_s8, DequantizeS8, CTN_DEQUANTIZE_S8_FIELDS)                                  \
    KERNEL(quantize_s16, QuantizeS16, CTN_QUANTIZE_S16_FIELDS)                                     \
    KERNEL(dequantize_s16, DequantizeS16, CTN_DEQUANTIZE_S16_FIELDS)                               \
    KERNEL(conv2d_add_s8, Conv2dAddS8, CTN_CONV2D_ADD_S8_FIELDS)                                   \
    KERNEL(conv2d_channels_s8, Conv2dChannelsS8, CTN_CONV2D_CHANNELS_S8_FIELDS)                    \
    KERNEL(conv2d_add_s8w4, Conv2dAddS8W4, CTN_CONV2D_ADD_S8W4_FIELDS)                             \
    KERNEL(conv2d_s8w4, Conv2dS8W4, CTN_CONV2D_S8W4_FIELDS)                                        \
    KERNEL(depthwise_conv2d_s8w4, DepthwiseConv2dS8W4, CTN_DEPTHWISE_CONV2D_S8W4_FIELDS)           \
    KERNEL(linear_s8w4, LinearS8W4, CTN_LINEAR_S8W4_FIELDS)

/* VARIANT(kernel, Struct, isa, accepts, pack): a faster body for one ISA level, bit for bit equal
 * to the plain one, in runtime/<kernel>_<isa>.c. <isa>_small: slower than the level's other, but
 * small, for models that are compiled for size; <isa>_map: with a function of int16 in its store.
 * `accepts` and `pack` name host functions of src/lower (any_call and keep_constants: none needed);
 * the chip's build never sees them. */
#define CTN_VARIANTS(VARIANT)                                                                      \
    VARIANT(conv2d_s8, Conv2dS8, v6m, conv2d_dots, pack_conv2d_bytes)                              \
    VARIANT(conv2d_s8, Conv2dS8, v7m, conv2d_dots, pack_conv2d_dots)                               \
    VARIANT(conv2d_s8, Conv2dS8, dsp, conv2d_accepts_dsp, conv2d_pack_dsp)                         \
    VARIANT(conv2d_s8, Conv2dS8, dsp_small, conv2d_accepts_dsp, conv2d_pack_dsp_small)             \
    VARIANT(conv2d_s8, Conv2dS8, mve, conv2d_pairs, pack_conv2d_pairs)                             \
    VARIANT(depthwise_conv2d_s8, DepthwiseConv2dS8, v6m, depthwise_words, pack_depthwise_words)    \
    VARIANT(depthwise_conv2d_s8, DepthwiseConv2dS8, v7m, depthwise_strips, pack_depthwise_strips)  \
    VARIANT(depthwise_conv2d_s8, DepthwiseConv2dS8, dsp, depthwise_accepts_dsp,                    \
            depthwise_pack_dsp)                                                                    \
    VARIANT(depthwise_conv2d_s8, DepthwiseConv2dS8, dsp_small, depthwise_accepts_dsp_small,        \
            depthwise_pack_dsp_small)                                                              \
    VARIANT(depthwise_conv2d_s8, DepthwiseConv2dS8, mve, depthwise_taps, pack_depthwise_taps)      \
    VARIANT(conv_transpose2d_s8, ConvTranspose2dS8, v6m, conv2d_dots, pack_conv_transpose2d_bytes) \
    VARIANT(conv_transpose2d_s8, ConvTranspose2dS8, v7m, conv2d_dots, pack_conv_transpose2d_dots)  \
    VARIANT(conv_transpose2d_s8, ConvTranspose2dS8, dsp, conv_transpose2d_accepts_dsp,             \
            conv_transpose2d_pack_dsp)                                                             \
    VARIANT(conv_transpose2d_s8, ConvTranspose2dS8, mve, conv_transpose2d_pairs,                   \
            pack_conv_transpose2d_pairs)                                                           \
    VARIANT(linear_s8, LinearS8, v6m, linear_dots, pack_linear_bytes)                              \
    VARIANT(linear_s8, LinearS8, v7m, linear_dots, pack_linear_dots)                               \
    VARIANT(linear_s8, LinearS8, dsp, linear_accepts_dsp, linear_pack_dsp)                         \
    VARIANT(linear_s8, LinearS8, mve, linear_rows, pack_linear_rows)                               \
    VARIANT(matmul_s8, MatmulS8, v6m, matmul_of_small_sums, pack_matmul_sums)                      \
    VARIANT(matmul_s8, MatmulS8, v7m, matmul_of_dense_rows, pack_matmul_sums)                      \
    VARIANT(matmul_s8, MatmulS8, dsp, matmul_accepts_dsp, matmul_pack_dsp)                         \
    VARIANT(matmul_s8, MatmulS8, mve, matmul_of_rows, pack_matmul_of_rows)                         \
    VARIANT(linear_s16, LinearS16, v6m, linear_of_rows, pack_linear_by_rows)                       \
    VARIANT(linear_s16, LinearS16, v6m_map, linear_of_rows_mapped, pack_linear_by_rows)            \
    VARIANT(linear_s16, LinearS16, v7m, linear_of_rows, pack_linear_by_rows)                       \
    VARIANT(linear_s16, LinearS16, v7m_map, linear_of_rows_mapped, pack_linear_by_rows)            \
    VARIANT(linear_s16, LinearS16, dsp, linear_of_rows, pack_linear_by_rows_dsp)                   \
    VARIANT(linear_s16, LinearS16, dsp_map, linear_of_rows_mapped, pack_linear_by_rows_dsp)        \
    VARIANT(linear_s16, LinearS16, mve, linear_of_rows, pack_linear_by_rows)                       \
    VARIANT(linear_s16, LinearS16, mve_map, linear_of_rows_mapped, pack_linear_by_rows)            \
    VARIANT(conv2d_s16, Conv2dS16, v6m, conv2d_by_rows, pack_conv2d_by_rows)                       \
    VARIANT(conv2d_s16, Conv2dS16, v6m_map, conv2d_by_rows_mapped, pack_conv2d_by_rows)            \
    VARIANT(conv2d_s16, Conv2dS16, v7m, conv2d_by_rows, pack_conv2d_by_rows)                       \
    VARIANT(conv2d_s16, Conv2dS16, v7m_map, conv2d_by_rows_mapped, pack_conv2d_by_rows)            \
    VARIANT(conv2d_s16, Conv2dS16, dsp, conv2d_by_rows, pack_conv2d_by_rows_dsp)                   \
    VARIANT(conv2d_s16, Conv2dS16, dsp_map, conv2d_by_rows_mapped, pack_conv2d_by_rows_dsp)        \
    VARIANT(conv2d_s16, Conv2dS16, mve, conv2d_by_rows, pack_conv2d_by_rows)                       \
    VARIANT(conv2d_s16, Conv2dS16, mve_map, conv2d_by_rows_mapped, pack_conv2d_by_rows)            \
    VARIANT(reduce_sum_s16, ReduceSumS16, mve, sum_of_neighbouring_bytes, keep_constants)          \
    VARIANT(reduce_sum_map_s16, ReduceSumMapS16, mve, sum_of_neighbouring_bytes, keep_constants)   \
    VARIANT(add_s8, AddS8, v6m, add_in_short_store, pack_add_dims)                                 \
    VARIANT(add_s8, AddS8, v7m, add_in_short_store, pack_add_dims)                                 \
    VARIANT(add_s8, AddS8, dsp, add_in_short_store, pack_add_dims)                                 \
    VARIANT(add_s8, AddS8, mve, add_runs, pack_add_runs)                                           \
    VARIANT(add_s16, AddS16, v7m, add_of_halves, keep_constants)                                   \
    VARIANT(add_s16, AddS16, mve, add_of_halves, keep_constants)                                   \
    VARIANT(add_map_s16, AddMapS16, v7m, add_mapped, keep_constants)                               \
    VARIANT(add_map_s16, AddMapS16, mve, add_mapped, keep_constants)                               \
    VARIANT(mul_s8, MulS8, v6m, mul_in_short_store, pack_mul_dims)                                 \
    VARIANT(mul_s8, MulS8, v7m, mul_in_short_store, pack_mul_dims)                                 \
    VARIANT(mul_s8, MulS8, dsp, mul_in_short_store, pack_mul_dims)                                 \
    VARIANT(mul_s8, MulS8, mve, mul_runs, pack_mul_runs)                                           \
    VARIANT(mul_s16, MulS16, v7m, mul_of_halves, keep_constants)                                   \
    VARIANT(mul_s16, MulS16, mve, mul_of_halves, keep_constants)                                   \
    VARIANT(mul_map_s16, MulMapS16, v7m, mul_mapped, keep_constants)                               \
    VARIANT(mul_map_s16, MulMapS16, mve, mul_mapped, keep_constants)                               \
    VARIANT(prelu_s8, PreluS8, mve, prelu_of_channels, keep_constants)                             \
    VARIANT(table_s8, TableS8, v6m, table_of_bytes, pack_table_of_bytes)                           \
    VARIANT(table_s8, TableS8, mve, table_of_bytes, pack_table_of_bytes)                           \
    VARIANT(table_s16, TableS16, mve, any_call, keep_constants)                                    \
    VARIANT(copy, Copy, mve, copy_of_bytes, pack_copy_of_bytes)                                    \
    VARIANT(copy, Copy, mve_map, mapped_copy_of_runs, pack_mapped_copy)                            \
    VARIANT(fill, Fill, mve, any_call, keep_constants)                                             \
    VARIANT(max_pool2d_s8, MaxPool2dS8, v7m, max_pool_of_quads, keep_constants)                    \
    VARIANT(max_pool2d_s8, MaxPool2dS8, dsp, max_pool_of_quads, keep_constants)                    \
    VARIANT(max_pool2d_s8, MaxPool2dS8, mve, max_pool_of_bytes, keep_constants)                    \
    VARIANT(avg_pool2d_s8, AvgPool2dS8, dsp, avg_pool_of_quads, keep_constants)                    \
    VARIANT(avg_pool2d_s8, AvgPool2dS8, mve, avg_pool_of_few_taps, keep_constants)                 \
    VARIANT(reduce_sum_s8, ReduceSumS8, mve, sum_of_neighbours, keep_constants)                    \
    VARIANT(softmax_s8, SoftmaxS8, v6m, softmax_by_table, pack_softmax_table)                      \
    VARIANT(layer_norm_s8, LayerNormS8, v6m, norm_of_runs, keep_constants)                         \
    VARIANT(layer_norm_s8, LayerNormS8, v7m, norm_of_runs, keep_constants)                         \
    VARIANT(layer_norm_s8, LayerNormS8, dsp, norm_of_runs, keep_constants)                         \
    VARIANT(layer_norm_s8, LayerNormS8, mve, norm_of_runs, keep_constants)                         \
    VARIANT(lstm_s8, LstmS8, v6m, any_call, keep_constants)                                        \
    VARIANT(lstm_s8, LstmS8, v7m, any_call, keep_constants)                                        \
    VARIANT(lstm_s8, LstmS8, dsp, any_call, keep_constants)                                        \
    VARIANT(lstm_s8, LstmS8, mve, units_fill_four, keep_constants)                                 \
    VARIANT(gru_s8, GruS8, v6m, units_fill_four, keep_constants)                                   \
    VARIANT(gru_s8, GruS8, v7m, units_fill_four, keep_constants)                                   \
    VARIANT(gru_s8, GruS8, dsp, units_fill_four, keep_constants)                                   \
    VARIANT(gru_s8, GruS8, mve, units_fill_four, keep_constants)                                   \
    VARIANT(rnn_s8, RnnS8, v6m, units_fill_four, keep_constants)                                   \
    VARIANT(rnn_s8, RnnS8, v7m, units_fill_four, keep_constants)                                   \
    VARIANT(rnn_s8, RnnS8, dsp, units_fill_four, keep_constants)                                   \
    VARIANT(rnn_s8, RnnS8, mve, units_fill_four, keep_constants)                                   \
    VARIANT(conv2d_add_s8, Conv2dAddS8, v6m, conv2d_add_dots, pack_conv2d_add_bytes)               \
    VARIANT(conv2d_add_s8, Conv2dAddS8, v7m, conv2d_add_dots, pack_conv2d_add_dots)                \
    VARIANT(conv2d_add_s8, Conv2dAddS8, dsp, conv2d_add_accepts_dsp, conv2d_add_pack_dsp)          \
    VARIANT(conv2d_channels_s8, Conv2dChannelsS8, mve, any_call, keep_constants)                   \
    VARIANT(conv2d_add_s8, Conv2dAddS8, mve, conv2d_add_pairs, pack_conv2d_add_pairs)              \
    VARIANT(conv2d_s8w4, Conv2dS8W4, v6m, conv2d_int4_bytes, pack_conv2d_int4_bytes)               \
    VARIANT(conv2d_s8w4, Conv2dS8W4, v7m, conv2d_int4_bytes, pack_conv2d_int4_bytes)               \
    VARIANT(conv2d_s8w4, Conv2dS8W4, dsp, conv2d_int4_rows, pack_conv2d_int4_rows)                 \
    VARIANT(conv2d_add_s8w4, Conv2dAddS8W4, dsp, conv2d_add_int4_rows, pack_conv2d_add_int4_rows)  \
    VARIANT(conv2d_add_s8w4, Conv2dAddS8W4, mve, conv2d_add_int4_pairs,                            \
            pack_conv2d_add_int4_pairs)                                                            \
    VARIANT(conv2d_s8w4, Conv2dS8W4, mve, conv2d_int4_pairs, pack_conv2d_int4_pairs)               \
    VARIANT(linear_s8w4, LinearS8W4, v6m, any_call, pack_linear_int4_bytes)                        \
    VARIANT(linear_s8w4, LinearS8W4, v7m, any_call, pack_linear_int4_bytes)                        \
    VARIANT(linear_s8w4, LinearS8W4, dsp, linear_int4_words, pack_linear_int4_words)               \
    VARIANT(linear_s8w4, LinearS8W4, mve, linear_int4_rows, pack_linear_int4_rows)

#endif
