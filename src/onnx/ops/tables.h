// The operators, by what they are about: a file each.
#pragma once

#include "op.h"

namespace weft::onnx {

OpTable elementwise_ops();       // arithmetic, comparisons, logic, bits
OpTable activation_ops();        // Relu, Gelu, Softmax ...
OpTable cast_ops();              // Cast, CastLike, BitCast
OpTable reduction_ops();         // Reduce*, ArgMax, CumSum, TopK
OpTable movement_ops();          // Reshape, Transpose, Concat, Slice, Expand ...
OpTable padding_ops();           // Pad
OpTable index_ops();             // Gather*, OneHot, NonZero, Where ...
OpTable scatter_ops();           // Scatter*, TensorScatter
OpTable unique_ops();            // Unique
OpTable creation_ops();          // Constant, ConstantOfShape, Range, EyeLike
OpTable random_ops();            // Random*, Bernoulli, Multinomial
OpTable product_ops();           // MatMul, Gemm, Einsum, Conv*, ConvTranspose, Det ...
OpTable pooling_ops();           // pools over windows and over everything
OpTable regions_ops();           // MaxRoiPool, RoiAlign
OpTable normalization_ops();     // BatchNormalization, LayerNormalization ..., Dropout
OpTable recurrent_ops();         // RNN, LSTM, GRU
OpTable attention_ops();         // Attention, RotaryEmbedding
OpTable flex_attention_ops();    // ai.onnx.preview: FlexAttention
OpTable linear_attention_ops();  // LinearAttention
OpTable quantization_ops();      // QuantizeLinear, QLinear*, *Integer
OpTable loss_ops();              // losses of the standard
OpTable control_ops();           // If, Loop, Scan, SequenceMap
OpTable sequence_ops();          // sequences and optionals
OpTable text_ops();              // strings
OpTable ngrams_ops();            // TfIdfVectorizer
OpTable resize_ops();            // Resize, Upsample
OpTable image_ops();             // GridSample, AffineGrid, ImageDecoder, CenterCropPad
OpTable detection_ops();         // NonMaxSuppression, DeformConv, Col2Im
OpTable signal_ops();            // DFT, STFT, windows, MelWeightMatrix
OpTable learning_ops();          // ai.onnx.ml: features, linear models
OpTable learning_maps_ops();     // categories, maps
OpTable learning_svm_ops();      // support vectors
OpTable learning_trees_ops();    // decision trees
OpTable training_ops();          // ai.onnx.preview.training
OpTable unofficial_ops();        // without a domain, and not in the standard
OpTable microsoft_ops();         // com.microsoft: fused activations, normalisations, products
OpTable microsoft_conv_ops();
OpTable microsoft_attention_ops();
OpTable microsoft_backward_ops();  // gradients as nodes
OpTable microsoft_decoder_ops();   // grouped heads, rotary embeddings
OpTable microsoft_experts_ops();
OpTable microsoft_quantized_ops();  // between quantised tensors
OpTable microsoft_blocks_ops();     // weights of few bits in blocks
OpTable microsoft_lstm_ops();
OpTable microsoft_other_ops();
OpTable folded_ops();     // what the clean-up of graphs makes
OpTable precision_ops();  // what layers in cheaper numbers are made of
OpTable bytes_ops();      // what it makes of quantised products

}  // namespace weft::onnx
