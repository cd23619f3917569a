/* The messages of a Core ML model, sorted by name: a word for each field, NAME=NUMBER and its kind.
 *   i  a varint            f  float    d  double    s  a string or bytes
 *   m  a message, m:NAME one whose fields are in this table
 * A capital letter is a repeated field. Messages without fields, and those that Wick does not read,
 * have no row. Source of these facts: the .proto files of coremltools 9 (mlmodel/format). */
#include "import/coreml/message.h"

const wick_coreml_schema wick_coreml_schemas[] = {
    {"ActivationELU", "alpha=1f", NULL},
    {"ActivationLeakyReLU", "alpha=1f", NULL},
    {"ActivationLinear", "alpha=1f beta=2f", NULL},
    {"ActivationPReLU", "alpha=1m:WeightParams", NULL},
    {"ActivationParametricSoftplus", "alpha=1m:WeightParams beta=2m:WeightParams", NULL},
    {"ActivationParams",
     "linear=5m:ActivationLinear ReLU=10m leakyReLU=15m:ActivationLeakyReLU "
     "thresholdedReLU=20m:ActivationThresholdedReLU PReLU=25m:ActivationPReLU tanh=30m "
     "scaledTanh=31m:ActivationScaledTanh sigmoid=40m "
     "sigmoidHard=41m:ActivationSigmoidHard ELU=50m:ActivationELU softsign=60m "
     "softplus=70m parametricSoftplus=71m:ActivationParametricSoftplus",
     NULL},
    {"ActivationScaledTanh", "alpha=1f beta=2f", NULL},
    {"ActivationSigmoidHard", "alpha=1f beta=2f", NULL},
    {"ActivationThresholdedReLU", "alpha=1f", NULL},
    {"AddLayerParams", "alpha=1f", NULL},
    {"ArgMaxLayerParams", "axis=1i removeDim=2i", NULL},
    {"ArgMinLayerParams", "axis=1i removeDim=2i", NULL},
    {"ArgSortLayerParams", "axis=1i descending=2i", NULL},
    {"ArrayFeatureExtractor", "extractIndex=1I", NULL},
    {"ArrayFeatureType",
     "shape=1I dataType=2i enumeratedShapes=21m:EnumeratedShapes shapeRange=31m:ShapeRange "
     "intDefaultValue=41i floatDefaultValue=51f doubleDefaultValue=61d",
     NULL},
    {"BatchedMatMulLayerParams",
     "transposeA=1i transposeB=2i weightMatrixFirstDimension=5i "
     "weightMatrixSecondDimension=6i hasBias=7i weights=8m:WeightParams "
     "bias=9m:WeightParams int8DynamicQuantize=10i",
     NULL},
    {"BatchnormLayerParams",
     "channels=1i computeMeanVar=5i instanceNormalization=6i epsilon=10f "
     "gamma=15m:WeightParams beta=16m:WeightParams mean=17m:WeightParams "
     "variance=18m:WeightParams",
     NULL},
    {"BiDirectionalLSTMLayerParams",
     "inputVectorSize=1i outputVectorSize=2i activationsForwardLSTM=10M:ActivationParams "
     "activationsBackwardLSTM=11M:ActivationParams params=15m:LSTMParams "
     "weightParams=20M:LSTMWeightParams",
     NULL},
    {"BiasLayerParams", "shape=1I bias=2m:WeightParams", NULL},
    {"BorderAmounts", "borderAmounts=10M:EdgeSizes", NULL},
    {"BoxCoordinatesMode", "boxMode=1i", NULL},
    {"BranchLayerParams", "ifBranch=1m:NeuralNetwork elseBranch=2m:NeuralNetwork", NULL},
    {"BroadcastToStaticLayerParams", "targetShape=1I", NULL},
    {"CategoricalDistributionLayerParams",
     "seed=1i numSamples=2i isLogits=3i eps=4f temperature=5f", NULL},
    {"CategoricalMapping",
     "stringToInt64Map=1m:StringToInt64Map int64ToStringMap=2m:Int64ToStringMap "
     "strValue=101s int64Value=102i",
     NULL},
    {"ClampedReLULayerParams", "alpha=1f beta=2f", NULL},
    {"ClipLayerParams", "minVal=1f maxVal=2f", NULL},
    {"Coefficients", "alpha=1D", NULL},
    {"ConcatLayerParams", "sequenceConcat=100i", NULL},
    {"ConcatNDLayerParams", "axis=1i interleave=2i", NULL},
    {"ConstantPaddingLayerParams", "value=1f padAmounts=2I padToGivenOutputSizeMode=3i", NULL},
    {"Convolution3DLayerParams",
     "outputChannels=1i inputChannels=2i nGroups=10i kernelDepth=20i kernelHeight=21i "
     "kernelWidth=22i strideDepth=31i strideHeight=32i strideWidth=33i dilationDepth=40i "
     "dilationHeight=41i dilationWidth=42i hasBias=50i weights=60m:WeightParams "
     "bias=61m:WeightParams paddingType=70i customPaddingFront=80i customPaddingBack=81i "
     "customPaddingTop=82i customPaddingBottom=83i customPaddingLeft=84i "
     "customPaddingRight=85i isDeconvolution=86i outputShape=87I",
     NULL},
    {"ConvolutionLayerParams",
     "outputChannels=1i kernelChannels=2i nGroups=10i kernelSize=20I stride=30I "
     "dilationFactor=40I valid=50m:ValidPadding same=51m:SamePadding isDeconvolution=60i "
     "hasBias=70i weights=90m:WeightParams bias=91m:WeightParams outputShape=100I",
     NULL},
    {"CropLayerParams", "cropAmounts=1m:BorderAmounts offset=5I", NULL},
    {"CropResizeLayerParams",
     "targetSize=1I normalizedCoordinates=2i mode=3m:SamplingMode "
     "boxIndicesMode=4m:BoxCoordinatesMode spatialScale=5f",
     NULL},
    {"CumSumLayerParams", "axis=1i excludeFinalSum=2i reverse=3i", NULL},
    {"DenseSupportVectors", "vectors=1M:DenseVector", NULL},
    {"DenseVector", "values=1D", NULL},
    {"DictVectorizer", "stringToIndex=1m:StringVector int64ToIndex=2m:Int64Vector", NULL},
    {"DictionaryFeatureType", "int64KeyType=1m stringKeyType=2m", NULL},
    {"DotProductLayerParams", "cosineSimilarity=1i", NULL},
    {"DoubleVector", "vector=1D", NULL},
    {"EdgeSizes", "startEdgeSize=1i endEdgeSize=2i", NULL},
    {"EmbeddingLayerParams",
     "inputDim=1i outputChannels=2i hasBias=10i weights=20m:WeightParams "
     "bias=21m:WeightParams",
     NULL},
    {"EmbeddingNDLayerParams",
     "vocabSize=1i embeddingSize=2i hasBias=3i weights=20m:WeightParams "
     "bias=21m:WeightParams",
     NULL},
    {"EnumeratedImageSizes", "sizes=1M:ImageSize", NULL},
    {"EnumeratedShapes", "shapes=1M:Shape", NULL},
    {"EqualLayerParams", "alpha=1f", NULL},
    {"EvaluationInfo", "evaluationIndex=1i evaluationValue=2d", NULL},
    {"ExpandDimsLayerParams", "axes=1I", NULL},
    {"FeatureDescription", "name=1s shortDescription=2s type=3m:FeatureType", NULL},
    {"FeatureType",
     "int64Type=1m doubleType=2m stringType=3m imageType=4m:ImageFeatureType "
     "multiArrayType=5m:ArrayFeatureType dictionaryType=6m:DictionaryFeatureType "
     "sequenceType=7m:SequenceFeatureType stateType=8m:StateFeatureType isOptional=1000i",
     NULL},
    {"FeatureVectorizer", "inputList=1M:InputColumn", NULL},
    {"FillDynamicLayerParams", "value=1f", NULL},
    {"FillLikeLayerParams", "value=1f", NULL},
    {"FillStaticLayerParams", "value=1f targetShape=2I", NULL},
    {"FlattenLayerParams", "mode=1i", NULL},
    {"FlattenTo2DLayerParams", "axis=1i", NULL},
    {"FunctionDescription",
     "name=1s input=2M:FeatureDescription output=3M:FeatureDescription "
     "state=6M:FeatureDescription predictedFeatureName=4s predictedProbabilitiesName=5s",
     NULL},
    {"GLMClassifier",
     "weights=1M:GLMClassifierDoubleArray offset=2D postEvaluationTransform=3i "
     "classEncoding=4i stringClassLabels=100m:StringVector "
     "int64ClassLabels=101m:Int64Vector",
     NULL},
    {"GLMClassifierDoubleArray", "value=1D", NULL},
    {"GLMRegressor", "weights=1M:GLMRegressorDoubleArray offset=2D postEvaluationTransform=3i",
     NULL},
    {"GLMRegressorDoubleArray", "value=1D", NULL},
    {"GRULayerParams",
     "inputVectorSize=1i outputVectorSize=2i activations=10M:ActivationParams "
     "sequenceOutput=15i hasBiasVectors=20i updateGateWeightMatrix=30m:WeightParams "
     "resetGateWeightMatrix=31m:WeightParams outputGateWeightMatrix=32m:WeightParams "
     "updateGateRecursionMatrix=50m:WeightParams resetGateRecursionMatrix=51m:WeightParams "
     "outputGateRecursionMatrix=52m:WeightParams updateGateBiasVector=70m:WeightParams "
     "resetGateBiasVector=71m:WeightParams outputGateBiasVector=72m:WeightParams "
     "reverseInput=100i",
     NULL},
    {"GatherAlongAxisLayerParams", "axis=1i", NULL},
    {"GatherLayerParams", "axis=1i", NULL},
    {"GeluLayerParams", "mode=1i", NULL},
    {"GlobalPooling3DLayerParams", "type=1i", NULL},
    {"GreaterEqualLayerParams", "alpha=2f", NULL},
    {"GreaterThanLayerParams", "alpha=2f", NULL},
    {"ImageFeatureType",
     "width=1i height=2i enumeratedSizes=21m:EnumeratedImageSizes "
     "imageSizeRange=31m:ImageSizeRange colorSpace=3i",
     NULL},
    {"ImageSize", "width=1i height=2i", NULL},
    {"ImageSizeRange", "widthRange=1m:SizeRange heightRange=2m:SizeRange", NULL},
    {"Imputer",
     "imputedDoubleValue=1d imputedInt64Value=2i imputedStringValue=3s "
     "imputedDoubleArray=4m:DoubleVector imputedInt64Array=5m:Int64Vector "
     "imputedStringDictionary=6m:StringToDoubleMap "
     "imputedInt64Dictionary=7m:Int64ToDoubleMap replaceDoubleValue=11d "
     "replaceInt64Value=12i replaceStringValue=13s",
     NULL},
    {"InnerProductLayerParams",
     "inputChannels=1i outputChannels=2i hasBias=10i weights=20m:WeightParams "
     "bias=21m:WeightParams int8DynamicQuantize=22i",
     NULL},
    {"InputColumn", "inputColumn=1s inputDimensions=2i", NULL},
    {"Int64ToDoubleMap", "map=1M:Int64ToDoubleMapMapEntry", NULL},
    {"Int64ToDoubleMapMapEntry", "key=1i value=2d", NULL},
    {"Int64ToStringMap", "map=1M:Int64ToStringMapMapEntry", NULL},
    {"Int64ToStringMapMapEntry", "key=1i value=2s", NULL},
    {"Int64Vector", "vector=1I", NULL},
    {"Kernel",
     "linearKernel=1m rbfKernel=2m:RBFKernel polyKernel=3m:PolyKernel "
     "sigmoidKernel=4m:SigmoidKernel",
     NULL},
    {"L2NormalizeLayerParams", "epsilon=1f", NULL},
    {"LRNLayerParams", "alpha=1f beta=2f localSize=3i k=4f", NULL},
    {"LSTMParams",
     "sequenceOutput=10i hasBiasVectors=20i forgetBias=30i hasPeepholeVectors=40i "
     "coupledInputAndForgetGate=50i cellClipThreshold=60f",
     NULL},
    {"LSTMWeightParams",
     "inputGateWeightMatrix=1m:WeightParams forgetGateWeightMatrix=2m:WeightParams "
     "blockInputWeightMatrix=3m:WeightParams outputGateWeightMatrix=4m:WeightParams "
     "inputGateRecursionMatrix=20m:WeightParams forgetGateRecursionMatrix=21m:WeightParams "
     "blockInputRecursionMatrix=22m:WeightParams "
     "outputGateRecursionMatrix=23m:WeightParams inputGateBiasVector=40m:WeightParams "
     "forgetGateBiasVector=41m:WeightParams blockInputBiasVector=42m:WeightParams "
     "outputGateBiasVector=43m:WeightParams inputGatePeepholeVector=60m:WeightParams "
     "forgetGatePeepholeVector=61m:WeightParams outputGatePeepholeVector=62m:WeightParams",
     NULL},
    {"LayerNormalizationLayerParams",
     "normalizedShape=1I eps=2f gamma=3m:WeightParams beta=4m:WeightParams", NULL},
    {"LessEqualLayerParams", "alpha=2f", NULL},
    {"LessThanLayerParams", "alpha=2f", NULL},
    {"LinearQuantizationParams", "scale=1F bias=2F", NULL},
    {"LoadConstantLayerParams", "shape=1I data=2m:WeightParams", NULL},
    {"LoadConstantNDLayerParams", "shape=1I data=2m:WeightParams", NULL},
    {"LookUpTableQuantizationParams", "floatValue=1F", NULL},
    {"LoopLayerParams",
     "maxLoopIterations=1i conditionVar=2s conditionNetwork=3m:NeuralNetwork "
     "bodyNetwork=4m:NeuralNetwork",
     NULL},
    {"LowerTriangularLayerParams", "k=1i", NULL},
    {"MatrixBandPartLayerParams", "numLower=1i numUpper=2i", NULL},
    {"MeanVarianceNormalizeLayerParams", "acrossChannels=1i normalizeVariance=2i epsilon=3f", NULL},
    {"Metadata",
     "shortDescription=1s versionString=2s author=3s license=4s "
     "userDefined=100M:MetadataUserDefinedEntry",
     NULL},
    {"MetadataUserDefinedEntry", "key=1s value=2s", NULL},
    {"Model",
     "specificationVersion=1i description=2m:ModelDescription isUpdatable=10i "
     "pipelineClassifier=200m:PipelineClassifier pipelineRegressor=201m:PipelineRegressor "
     "pipeline=202m:Pipeline glmRegressor=300m:GLMRegressor "
     "supportVectorRegressor=301m:SupportVectorRegressor "
     "treeEnsembleRegressor=302m:TreeEnsembleRegressor "
     "neuralNetworkRegressor=303m:NeuralNetworkRegressor bayesianProbitRegressor=304m "
     "glmClassifier=400m:GLMClassifier "
     "supportVectorClassifier=401m:SupportVectorClassifier "
     "treeEnsembleClassifier=402m:TreeEnsembleClassifier "
     "neuralNetworkClassifier=403m:NeuralNetworkClassifier "
     "kNearestNeighborsClassifier=404m neuralNetwork=500m:NeuralNetwork "
     "itemSimilarityRecommender=501m mlProgram=502m customModel=555m linkedModel=556m "
     "classConfidenceThresholding=560m oneHotEncoder=600m:OneHotEncoder "
     "imputer=601m:Imputer featureVectorizer=602m:FeatureVectorizer "
     "dictVectorizer=603m:DictVectorizer scaler=604m:Scaler "
     "categoricalMapping=606m:CategoricalMapping normalizer=607m:Normalizer "
     "arrayFeatureExtractor=609m:ArrayFeatureExtractor "
     "nonMaximumSuppression=610m:NonMaximumSuppression identity=900m textClassifier=2000m "
     "wordTagger=2001m visionFeaturePrint=2002m soundAnalysisPreprocessing=2003m "
     "gazetteer=2004m wordEmbedding=2005m audioFeaturePrint=2006m serializedModel=3000m",
     NULL},
    {"ModelDescription",
     "functions=20M:FunctionDescription defaultFunctionName=21s metadata=100m:Metadata "
     "input=1M:FeatureDescription output=10M:FeatureDescription "
     "state=13M:FeatureDescription predictedFeatureName=11s predictedProbabilitiesName=12s "
     "trainingInput=50M:FeatureDescription",
     NULL},
    {"MultiplyLayerParams", "alpha=1f", NULL},
    {"NeuralNetwork",
     "layers=1M:NeuralNetworkLayer preprocessing=2M:NeuralNetworkPreprocessing "
     "arrayInputShapeMapping=5i imageInputShapeMapping=6i updateParams=10m",
     NULL},
    {"NeuralNetworkClassifier",
     "layers=1M:NeuralNetworkLayer preprocessing=2M:NeuralNetworkPreprocessing "
     "arrayInputShapeMapping=5i imageInputShapeMapping=6i updateParams=10m "
     "stringClassLabels=100m:StringVector int64ClassLabels=101m:Int64Vector "
     "labelProbabilityLayerName=200s",
     NULL},
    {"NeuralNetworkImageScaler",
     "channelScale=10f blueBias=20f greenBias=21f redBias=22f grayBias=30f", NULL},
    {"NeuralNetworkLayer",
     "name=1s input=2S output=3S inputTensor=4M:Tensor outputTensor=5M:Tensor "
     "isUpdatable=10i convolution=100m:ConvolutionLayerParams "
     "pooling=120m:PoolingLayerParams activation=130m:ActivationParams "
     "innerProduct=140m:InnerProductLayerParams embedding=150m:EmbeddingLayerParams "
     "batchnorm=160m:BatchnormLayerParams mvn=165m:MeanVarianceNormalizeLayerParams "
     "l2normalize=170m:L2NormalizeLayerParams softmax=175m lrn=180m:LRNLayerParams "
     "crop=190m:CropLayerParams padding=200m:PaddingLayerParams "
     "upsample=210m:UpsampleLayerParams resizeBilinear=211m:ResizeBilinearLayerParams "
     "cropResize=212m:CropResizeLayerParams unary=220m:UnaryFunctionLayerParams "
     "add=230m:AddLayerParams multiply=231m:MultiplyLayerParams average=240m "
     "scale=245m:ScaleLayerParams bias=250m:BiasLayerParams max=260m min=261m "
     "dot=270m:DotProductLayerParams reduce=280m:ReduceLayerParams "
     "loadConstant=290m:LoadConstantLayerParams reshape=300m:ReshapeLayerParams "
     "flatten=301m:FlattenLayerParams permute=310m:PermuteLayerParams "
     "concat=320m:ConcatLayerParams split=330m:SplitLayerParams "
     "sequenceRepeat=340m:SequenceRepeatLayerParams "
     "reorganizeData=345m:ReorganizeDataLayerParams slice=350m:SliceLayerParams "
     "simpleRecurrent=400m:SimpleRecurrentLayerParams gru=410m:GRULayerParams "
     "uniDirectionalLSTM=420m:UniDirectionalLSTMLayerParams "
     "biDirectionalLSTM=430m:BiDirectionalLSTMLayerParams custom=500m copy=600m "
     "branch=605m:BranchLayerParams loop=615m:LoopLayerParams loopBreak=620m "
     "loopContinue=625m rangeStatic=635m:RangeStaticLayerParams "
     "rangeDynamic=640m:RangeDynamicLayerParams clip=660m:ClipLayerParams ceil=665m "
     "floor=670m sign=680m round=685m exp2=700m sin=710m cos=715m tan=720m asin=730m "
     "acos=735m atan=740m sinh=750m cosh=755m tanh=760m asinh=770m acosh=775m atanh=780m "
     "erf=790m gelu=795m:GeluLayerParams equal=815m:EqualLayerParams "
     "notEqual=820m:NotEqualLayerParams lessThan=825m:LessThanLayerParams "
     "lessEqual=827m:LessEqualLayerParams greaterThan=830m:GreaterThanLayerParams "
     "greaterEqual=832m:GreaterEqualLayerParams logicalOr=840m logicalXor=845m "
     "logicalNot=850m logicalAnd=855m modBroadcastable=865m minBroadcastable=870m "
     "maxBroadcastable=875m addBroadcastable=880m powBroadcastable=885m "
     "divideBroadcastable=890m floorDivBroadcastable=895m multiplyBroadcastable=900m "
     "subtractBroadcastable=905m tile=920m:TileLayerParams stack=925m:StackLayerParams "
     "gather=930m:GatherLayerParams scatter=935m:ScatterLayerParams gatherND=940m "
     "scatterND=945m:ScatterNDLayerParams softmaxND=950m:SoftmaxNDLayerParams "
     "gatherAlongAxis=952m:GatherAlongAxisLayerParams "
     "scatterAlongAxis=954m:ScatterAlongAxisLayerParams reverse=960m:ReverseLayerParams "
     "reverseSeq=965m:ReverseSeqLayerParams splitND=975m:SplitNDLayerParams "
     "concatND=980m:ConcatNDLayerParams transpose=985m:TransposeLayerParams",
     "sliceStatic=995m:SliceStaticLayerParams sliceDynamic=1000m:SliceDynamicLayerParams "
     "slidingWindows=1005m:SlidingWindowsLayerParams topK=1015m:TopKLayerParams "
     "argMin=1020m:ArgMinLayerParams argMax=1025m:ArgMaxLayerParams "
     "embeddingND=1040m:EmbeddingNDLayerParams "
     "batchedMatmul=1045m:BatchedMatMulLayerParams getShape=1065m "
     "loadConstantND=1070m:LoadConstantNDLayerParams fillLike=1080m:FillLikeLayerParams "
     "fillStatic=1085m:FillStaticLayerParams fillDynamic=1090m:FillDynamicLayerParams "
     "broadcastToLike=1100m broadcastToStatic=1105m:BroadcastToStaticLayerParams "
     "broadcastToDynamic=1110m squeeze=1120m:SqueezeLayerParams "
     "expandDims=1125m:ExpandDimsLayerParams flattenTo2D=1130m:FlattenTo2DLayerParams "
     "reshapeLike=1135m reshapeStatic=1140m:ReshapeStaticLayerParams reshapeDynamic=1145m "
     "rankPreservingReshape=1150m:RankPreservingReshapeLayerParams "
     "constantPad=1155m:ConstantPaddingLayerParams "
     "randomNormalLike=1170m:RandomNormalLikeLayerParams "
     "randomNormalStatic=1175m:RandomNormalStaticLayerParams "
     "randomNormalDynamic=1180m:RandomNormalDynamicLayerParams "
     "randomUniformLike=1190m:RandomUniformLikeLayerParams "
     "randomUniformStatic=1195m:RandomUniformStaticLayerParams "
     "randomUniformDynamic=1200m:RandomUniformDynamicLayerParams "
     "randomBernoulliLike=1210m:RandomBernoulliLikeLayerParams "
     "randomBernoulliStatic=1215m:RandomBernoulliStaticLayerParams "
     "randomBernoulliDynamic=1220m:RandomBernoulliDynamicLayerParams "
     "categoricalDistribution=1230m:CategoricalDistributionLayerParams "
     "reduceL1=1250m:ReduceL1LayerParams reduceL2=1255m:ReduceL2LayerParams "
     "reduceMax=1260m:ReduceMaxLayerParams reduceMin=1265m:ReduceMinLayerParams "
     "reduceSum=1270m:ReduceSumLayerParams reduceProd=1275m:ReduceProdLayerParams "
     "reduceMean=1280m:ReduceMeanLayerParams reduceLogSum=1285m:ReduceLogSumLayerParams "
     "reduceSumSquare=1290m:ReduceSumSquareLayerParams "
     "reduceLogSumExp=1295m:ReduceLogSumExpLayerParams whereNonZero=1313m "
     "matrixBandPart=1315m:MatrixBandPartLayerParams "
     "lowerTriangular=1320m:LowerTriangularLayerParams "
     "upperTriangular=1325m:UpperTriangularLayerParams whereBroadcastable=1330m "
     "layerNormalization=1350m:LayerNormalizationLayerParams "
     "NonMaximumSuppression=1400m:NonMaximumSuppressionLayerParams "
     "oneHot=1450m:OneHotLayerParams cumSum=1455m:CumSumLayerParams "
     "clampedReLU=1460m:ClampedReLULayerParams argSort=1461m:ArgSortLayerParams "
     "pooling3d=1465m:Pooling3DLayerParams "
     "globalPooling3d=1466m:GlobalPooling3DLayerParams "
     "sliceBySize=1470m:SliceBySizeLayerParams "
     "convolution3d=1471m:Convolution3DLayerParams"},
    {"NeuralNetworkMeanImage", "meanImage=1F", NULL},
    {"NeuralNetworkPreprocessing",
     "featureName=1s scaler=10m:NeuralNetworkImageScaler "
     "meanImage=11m:NeuralNetworkMeanImage",
     NULL},
    {"NeuralNetworkRegressor",
     "layers=1M:NeuralNetworkLayer preprocessing=2M:NeuralNetworkPreprocessing "
     "arrayInputShapeMapping=5i imageInputShapeMapping=6i updateParams=10m",
     NULL},
    {"NonMaximumSuppression",
     "pickTop=1m:PickTop stringClassLabels=100m:StringVector "
     "int64ClassLabels=101m:Int64Vector iouThreshold=110d confidenceThreshold=111d "
     "confidenceInputFeatureName=200s coordinatesInputFeatureName=201s "
     "iouThresholdInputFeatureName=202s confidenceThresholdInputFeatureName=203s "
     "confidenceOutputFeatureName=210s coordinatesOutputFeatureName=211s",
     NULL},
    {"NonMaximumSuppressionLayerParams",
     "iouThreshold=1f scoreThreshold=2f maxBoxes=3i perClassSuppression=4i", NULL},
    {"Normalizer", "normType=1i", NULL},
    {"NotEqualLayerParams", "alpha=1f", NULL},
    {"OneHotEncoder",
     "stringCategories=1m:StringVector int64Categories=2m:Int64Vector outputSparse=10i "
     "handleUnknown=11i",
     NULL},
    {"OneHotLayerParams", "oneHotVectorSize=1i axis=2i onValue=3f offValue=4f", NULL},
    {"PaddingConstant", "value=1f", NULL},
    {"PaddingLayerParams",
     "constant=1m:PaddingConstant reflection=2m replication=3m "
     "paddingAmounts=10m:BorderAmounts",
     NULL},
    {"PermuteLayerParams", "axis=1I", NULL},
    {"PickTop", "perClass=1i", NULL},
    {"Pipeline", "models=1M:Model names=2S", NULL},
    {"PipelineClassifier", "pipeline=1m:Pipeline", NULL},
    {"PipelineRegressor", "pipeline=1m:Pipeline", NULL},
    {"PolyKernel", "degree=1i c=2d gamma=3d", NULL},
    {"Pooling3DLayerParams",
     "type=1i kernelDepth=2i kernelHeight=3i kernelWidth=4i strideDepth=5i strideHeight=6i "
     "strideWidth=7i paddingType=15i customPaddingFront=8i customPaddingBack=9i "
     "customPaddingTop=10i customPaddingBottom=11i customPaddingLeft=12i "
     "customPaddingRight=13i countExcludePadding=14i",
     NULL},
    {"PoolingLayerParams",
     "type=1i kernelSize=10I stride=20I valid=30m:ValidPadding same=31m:SamePadding "
     "includeLastPixel=32m:ValidCompletePadding avgPoolExcludePadding=50i "
     "globalPooling=60i",
     NULL},
    {"QuantizationParams",
     "numberOfBits=1i linearQuantization=101m:LinearQuantizationParams "
     "lookupTableQuantization=102m:LookUpTableQuantizationParams",
     NULL},
    {"RBFKernel", "gamma=1d", NULL},
    {"RandomBernoulliDynamicLayerParams", "seed=1i prob=2f", NULL},
    {"RandomBernoulliLikeLayerParams", "seed=1i prob=2f", NULL},
    {"RandomBernoulliStaticLayerParams", "seed=1i prob=2f outputShape=3I", NULL},
    {"RandomNormalDynamicLayerParams", "seed=1i mean=2f stdDev=3f", NULL},
    {"RandomNormalLikeLayerParams", "seed=1i mean=2f stdDev=3f", NULL},
    {"RandomNormalStaticLayerParams", "seed=1i mean=2f stdDev=3f outputShape=4I", NULL},
    {"RandomUniformDynamicLayerParams", "seed=1i minVal=2f maxVal=3f", NULL},
    {"RandomUniformLikeLayerParams", "seed=1i minVal=2f maxVal=3f", NULL},
    {"RandomUniformStaticLayerParams", "seed=1i minVal=2f maxVal=3f outputShape=4I", NULL},
    {"RangeDynamicLayerParams", "startValue=2f stepSizeValue=3f", NULL},
    {"RangeStaticLayerParams", "endValue=1f startValue=2f stepSizeValue=3f", NULL},
    {"RankPreservingReshapeLayerParams", "targetShape=1I", NULL},
    {"ReduceL1LayerParams", "axes=1I keepDims=2i reduceAll=3i", NULL},
    {"ReduceL2LayerParams", "axes=1I keepDims=2i reduceAll=3i", NULL},
    {"ReduceLayerParams", "mode=1i epsilon=2f axis=3i", NULL},
    {"ReduceLogSumExpLayerParams", "axes=1I keepDims=2i reduceAll=3i", NULL},
    {"ReduceLogSumLayerParams", "axes=1I keepDims=2i reduceAll=3i", NULL},
    {"ReduceMaxLayerParams", "axes=1I keepDims=2i reduceAll=3i", NULL},
    {"ReduceMeanLayerParams", "axes=1I keepDims=2i reduceAll=3i", NULL},
    {"ReduceMinLayerParams", "axes=1I keepDims=2i reduceAll=3i", NULL},
    {"ReduceProdLayerParams", "axes=1I keepDims=2i reduceAll=3i", NULL},
    {"ReduceSumLayerParams", "axes=1I keepDims=2i reduceAll=3i", NULL},
    {"ReduceSumSquareLayerParams", "axes=1I keepDims=2i reduceAll=3i", NULL},
    {"ReorganizeDataLayerParams", "mode=1i blockSize=2i", NULL},
    {"ReshapeLayerParams", "targetShape=1I mode=2i", NULL},
    {"ReshapeStaticLayerParams", "targetShape=1I", NULL},
    {"ResizeBilinearLayerParams", "targetSize=1I mode=2m:SamplingMode", NULL},
    {"ReverseLayerParams", "reverseDim=1I", NULL},
    {"ReverseSeqLayerParams", "batchAxis=1i sequenceAxis=2i", NULL},
    {"SamePadding", "asymmetryMode=1i", NULL},
    {"SamplingMode", "samplingMethod=1i", NULL},
    {"ScaleLayerParams",
     "shapeScale=1I scale=2m:WeightParams hasBias=3i shapeBias=4I bias=5m:WeightParams", NULL},
    {"Scaler", "shiftValue=1D scaleValue=2D", NULL},
    {"ScatterAlongAxisLayerParams", "axis=1i mode=2i", NULL},
    {"ScatterLayerParams", "axis=1i mode=2i", NULL},
    {"ScatterNDLayerParams", "mode=1i", NULL},
    {"SequenceFeatureType", "int64Type=1m stringType=3m sizeRange=101m:SizeRange", NULL},
    {"SequenceRepeatLayerParams", "nRepetitions=1i", NULL},
    {"Shape", "shape=1I", NULL},
    {"ShapeRange", "sizeRanges=1M:SizeRange", NULL},
    {"SigmoidKernel", "gamma=1d c=2d", NULL},
    {"SimpleRecurrentLayerParams",
     "inputVectorSize=1i outputVectorSize=2i activation=10m:ActivationParams "
     "sequenceOutput=15i hasBiasVector=20i weightMatrix=30m:WeightParams "
     "recursionMatrix=31m:WeightParams biasVector=32m:WeightParams reverseInput=100i",
     NULL},
    {"SizeRange", "lowerBound=1i upperBound=2i", NULL},
    {"SliceBySizeLayerParams", "size=2i axis=3i", NULL},
    {"SliceDynamicLayerParams", "beginMasks=2I endIds=3I endMasks=4I strides=5I squeezeMasks=6I",
     NULL},
    {"SliceLayerParams", "startIndex=1i endIndex=2i stride=3i axis=4i", NULL},
    {"SliceStaticLayerParams",
     "beginIds=1I beginMasks=2I endIds=3I endMasks=4I strides=5I squeezeMasks=6I", NULL},
    {"SlidingWindowsLayerParams", "axis=1i windowSize=2i step=3i", NULL},
    {"SoftmaxNDLayerParams", "axis=1i", NULL},
    {"SparseNode", "index=1i value=2d", NULL},
    {"SparseSupportVectors", "vectors=1M:SparseVector", NULL},
    {"SparseVector", "nodes=1M:SparseNode", NULL},
    {"SplitLayerParams", "nOutputs=1i", NULL},
    {"SplitNDLayerParams", "axis=1i numSplits=2i splitSizes=3I", NULL},
    {"SqueezeLayerParams", "axes=1I squeezeAll=2i", NULL},
    {"StackLayerParams", "axis=1i", NULL},
    {"StateFeatureType", "arrayType=1m:ArrayFeatureType", NULL},
    {"StringToDoubleMap", "map=1M:StringToDoubleMapMapEntry", NULL},
    {"StringToDoubleMapMapEntry", "key=1s value=2d", NULL},
    {"StringToInt64Map", "map=1M:StringToInt64MapMapEntry", NULL},
    {"StringToInt64MapMapEntry", "key=1s value=2i", NULL},
    {"StringVector", "vector=1S", NULL},
    {"SupportVectorClassifier",
     "kernel=1m:Kernel numberOfSupportVectorsPerClass=2I "
     "sparseSupportVectors=3m:SparseSupportVectors "
     "denseSupportVectors=4m:DenseSupportVectors coefficients=5M:Coefficients rho=6D "
     "probA=7D probB=8D stringClassLabels=100m:StringVector "
     "int64ClassLabels=101m:Int64Vector",
     NULL},
    {"SupportVectorRegressor",
     "kernel=1m:Kernel sparseSupportVectors=2m:SparseSupportVectors "
     "denseSupportVectors=3m:DenseSupportVectors coefficients=4m:Coefficients rho=5d",
     NULL},
    {"Tensor", "rank=1i dimValue=2I", NULL},
    {"TileLayerParams", "reps=1I", NULL},
    {"TopKLayerParams", "axis=1i K=2i useBottomK=3i", NULL},
    {"TransposeLayerParams", "axes=1I", NULL},
    {"TreeEnsembleClassifier",
     "treeEnsemble=1m:TreeEnsembleParameters postEvaluationTransform=2i "
     "stringClassLabels=100m:StringVector int64ClassLabels=101m:Int64Vector",
     NULL},
    {"TreeEnsembleParameters",
     "nodes=1M:TreeNode numPredictionDimensions=2i basePredictionValue=3D", NULL},
    {"TreeEnsembleRegressor", "treeEnsemble=1m:TreeEnsembleParameters postEvaluationTransform=2i",
     NULL},
    {"TreeNode",
     "treeId=1i nodeId=2i nodeBehavior=3i branchFeatureIndex=10i branchFeatureValue=11d "
     "trueChildNodeId=12i falseChildNodeId=13i missingValueTracksTrueChild=14i "
     "evaluationInfo=20M:EvaluationInfo relativeHitRate=30d",
     NULL},
    {"UnaryFunctionLayerParams", "type=1i alpha=2f epsilon=3f shift=4f scale=5f", NULL},
    {"UniDirectionalLSTMLayerParams",
     "inputVectorSize=1i outputVectorSize=2i activations=10M:ActivationParams "
     "params=15m:LSTMParams weightParams=20m:LSTMWeightParams reverseInput=100i",
     NULL},
    {"UpperTriangularLayerParams", "k=1i", NULL},
    {"UpsampleLayerParams",
     "scalingFactor=1I fractionalScalingFactor=7F mode=5i linearUpsampleMode=6i", NULL},
    {"ValidCompletePadding", "paddingAmounts=10I", NULL},
    {"ValidPadding", "paddingAmounts=1m:BorderAmounts", NULL},
    {"WeightParams",
     "floatValue=1F float16Value=2s rawValue=30s int8RawValue=31s "
     "quantization=40m:QuantizationParams isUpdatable=50i",
     NULL},
};

const size_t wick_coreml_nschema = WICK_COUNT(wick_coreml_schemas);
