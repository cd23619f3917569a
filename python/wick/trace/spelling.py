"""Arguments by the names that JAX has for them, and in its order.

Functions of wick.numpy and its like have the parameters of the array API, whose further arguments are named. A table has JAX's
parameters of those that differ."""
import functools
import inspect

from wick.errors import Unsupported

#: Arguments without effect on what is computed here.
_WITHOUT_EFFECT = frozenset("overwrite_input overwrite_a overwrite_b check_finite kind assume_unique copy hermitian turbo type lwork lapack_driver "
                            "debug method precision order is_stable symmetrize_input wrap_negative_indices allow_negative_indices use_magma".split())

#: Of each module: JAX's parameters of its functions, in their order; those after a `*` have to be named.
_TABLE = {
    "wick.numpy": """
        all any : a axis out keepdims * where
        amax amin max min nanmax nanmin : a axis out keepdims initial where
        angle : z deg
        append : arr values axis
        argmax argmin nanargmax nanargmin ptp : a axis out keepdims
        argpartition partition : a kth axis
        argsort : a axis * kind order stable descending dtype
        argwhere flatnonzero nonzero : a * size fill_value
        around round : a decimals out
        array_equal : a1 a2 equal_nan
        array_equiv : a1 a2
        array_split split : ary indices_or_sections axis
        asarray : a dtype order * copy
        average : a axis weights returned keepdims
        broadcast_to : array shape
        can_cast : from_ to casting
        column_stack : tup
        compress : condition a axis * size fill_value out
        convolve correlate : a v mode * preferred_element_type
        copy ravel : a order
        corrcoef : x y rowvar dtype
        count_nonzero : a axis keepdims
        cov : m y rowvar bias ddof fweights aweights dtype
        cross : a b axisa axisb axisc axis
        cumprod cumsum nancumprod nancumsum : a axis dtype out
        delete : arr obj axis * assume_unique_indices
        diag diagflat : v k
        diag_indices_from : arr
        diagonal : a offset axis1 axis2
        diff : a n axis prepend append
        digitize : x bins right * method
        dot inner matmul vdot : a b * preferred_element_type
        dsplit hsplit vsplit : ary indices_or_sections
        dstack hstack vstack : tup dtype
        ediff1d : ary to_end to_begin
        empty_like : prototype dtype shape
        expand_dims size squeeze : a axis
        extract : condition arr * size fill_value
        eye tri : N M k dtype
        fill_diagonal : a val wrap * inplace
        finfo : dtype
        flip : m axis
        fliplr flipud : m
        fmax fmin gcd lcm : x1 x2
        full_like : a fill_value dtype shape
        geomspace : start stop num endpoint dtype axis
        histogram : a bins range weights density
        histogram_bin_edges : a bins range weights
        iinfo : int_type
        insert : arr obj values axis
        interp : x xp fp left right period
        intersect1d : ar1 ar2 assume_unique return_indices * size fill_value
        isin : element test_elements assume_unique invert * method
        isscalar : element
        issubdtype : arg1 arg2
        iterable : y
        kron : a b
        linspace : start stop num endpoint retstep dtype axis
        logspace : start stop num endpoint base dtype axis
        mask_indices : n mask_func k * size
        mean : a axis dtype out keepdims * where
        median nanmedian : a axis out overwrite_input keepdims
        moveaxis : a source destination
        nan_to_num : x copy nan posinf neginf
        nanmean : a axis dtype out keepdims where
        nanpercentile nanquantile percentile quantile : a q axis out overwrite_input method keepdims * weights
        nanprod nansum : a axis dtype out keepdims initial where
        nanstd nanvar : a axis dtype out ddof keepdims where mean
        ndim shape : a
        ones_like zeros_like : a dtype shape
        outer : a b out
        pad : array pad_width mode
        place : arr mask vals * inplace
        poly : seq_of_zeros
        polyval : p x * unroll
        prod sum : a axis dtype out keepdims initial where promote_integers
        put : a ind v mode * inplace
        put_along_axis : arr indices values axis inplace * mode
        ravel_multi_index : multi_index dims mode order * dtype
        repeat : a repeats axis * total_repeat_length
        reshape : a shape order * copy
        resize : a new_shape
        roll : a shift axis
        rollaxis : a axis start
        rot90 : m k axes
        searchsorted : a v side sorter * method
        select : condlist choicelist default
        setdiff1d setxor1d : ar1 ar2 assume_unique * size fill_value
        sort : a axis * kind order stable descending
        stack : arrays axis out dtype
        std var : a axis dtype out ddof keepdims * where mean correction
        swapaxes : a axis1 axis2
        take : a indices axis out mode fill_value
        take_along_axis : arr indices axis mode fill_value * wrap_negative_indices
        tensordot : a b axes * preferred_element_type
        tile : A reps
        trace : a offset axis1 axis2 dtype out
        transpose : a axes
        tril triu : m k
        tril_indices_from triu_indices_from : arr k
        union1d : ar1 ar2 * size fill_value
        unique : ar return_index return_inverse return_counts axis * equal_nan size fill_value sorted
        unwrap : p discont axis period
        vecdot : x1 x2 * axis preferred_element_type
    """,
    "wick.numpy.linalg": """
        cholesky : a * upper symmetrize_input
        cond : x p
        det eig eigvals inv : a
        eigh : a UPLO symmetrize_input
        eigvalsh : a UPLO * symmetrize_input
        lstsq : a b rcond * numpy_resid
        matrix_power : a n
        matrix_rank : M rtol * hermitian tol
        pinv : a rtol hermitian * rcond
        qr : a mode
        slogdet : a * method
        solve : a b
        svd : a full_matrices compute_uv hermitian subset_by_index
        vecdot : x1 x2 * axis preferred_element_type
    """,
    "wick.lax": """
        abs acos acosh asin asinh atan atanh bitwise_not cbrt ceil conj cos cosh exp exp2 expm1 : x
        floor imag is_finite log log1p logistic neg real reciprocal sign sin sinh sqrt square tan tanh : x
        add atan2 bitwise_and bitwise_or bitwise_xor eq ge gt le lt max min ne pow rem shift_left shift_right_arithmetic sub : x y
        batch_matmul : lhs rhs
        bitcast_convert_type convert_element_type : operand new_dtype
        broadcast : operand sizes
        broadcast_in_dim : operand shape broadcast_dimensions
        clamp : min x max
        collapse : operand start_dimension stop_dimension
        conv : lhs rhs window_strides padding preferred_element_type
        conv_transpose : lhs rhs strides padding rhs_dilation dimension_numbers transpose_kernel preferred_element_type use_consistent_padding
        conv_with_general_padding : lhs rhs window_strides padding lhs_dilation rhs_dilation preferred_element_type
        cumlogsumexp cummax cummin cumprod cumsum : operand axis reverse
        dynamic_index_in_dim : operand index axis keepdims * allow_negative_indices
        dynamic_slice : operand start_indices slice_sizes * allow_negative_indices
        dynamic_slice_in_dim : operand start_index slice_size axis * allow_negative_indices
        dynamic_update_index_in_dim : operand update index axis * allow_negative_indices
        dynamic_update_slice : operand update start_indices * allow_negative_indices
        dynamic_update_slice_in_dim : operand update start_index axis * allow_negative_indices
        expand_dims squeeze : array dimensions
        full_like : x fill_value dtype shape
        index_in_dim : operand index axis keepdims
        mul : x y * out_dtype
        nextafter : x1 x2
        pad : operand padding_value padding_config
        reduce_precision : operand exponent_bits mantissa_bits
        reduce_window : operand init_value computation window_dimensions window_strides padding base_dilation window_dilation
        reduce_xor : operand axes
        rev : operand dimensions
        select : pred on_true on_false
        slice : operand start_indices limit_indices strides
        slice_in_dim : operand start_index limit_index stride axis
        sort_key_val : keys values dimension is_stable
        split : operand sizes axis
        stack : operands axis
        tile : operand reps
        top_k : operand k * axis
        transpose : operand permutation
        unstack : x axis
    """,
    "wick.nn": """
        dot_product_attention : query key value bias mask * scale is_causal query_seq_lengths key_value_seq_lengths local_window_size return_residual
        hard_sigmoid hard_silu hard_swish hard_tanh log_sigmoid mish relu relu6 : x
        selu sigmoid silu soft_sign softplus sparse_plus sparse_sigmoid swish : x
        log_softmax softmax : x axis where
        logmeanexp : x axis where keepdims
        logsumexp : a axis b keepdims return_sign where
        standardize : x axis mean variance epsilon where * algorithm
    """,
    "wick.random": """
        ball : key d p shape dtype
        categorical : key logits axis shape replace mode
        choice : key a shape replace p axis mode
        key_data : keys
        multivariate_normal : key mean cov shape dtype method
        orthogonal : key n shape dtype m
    """,
    "wick.tree": """
        all : tree * is_leaf
        broadcast : prefix_tree full_tree is_leaf
        flatten leaves structure : tree is_leaf
        flatten_with_path leaves_with_path : tree is_leaf is_leaf_takes_path
        transpose : outer_treedef inner_treedef pytree_to_transpose
        unflatten : treedef leaves
    """,
    "wick.tree_util": """
        keystr : keys * simple separator
        tree_all : tree * is_leaf
        tree_broadcast : prefix_tree full_tree is_leaf
        tree_flatten tree_leaves tree_structure : tree is_leaf
        tree_flatten_with_path tree_leaves_with_path : tree is_leaf is_leaf_takes_path
        tree_transpose : outer_treedef inner_treedef pytree_to_transpose
        tree_unflatten : treedef leaves
    """,
    "wick.scipy.linalg": """
        cho_solve : c_and_lower b overwrite_b check_finite
        det inv : a overwrite_a check_finite
        dft : n scale * dtype
        eigh : a b lower eigvals_only overwrite_a overwrite_b turbo eigvals type check_finite
        eigh_tridiagonal : d e * eigvals_only select select_range tol key
        expm : A * upper_triangular max_squarings
        qr : a overwrite_a lwork mode pivoting check_finite
        solve : a b lower overwrite_a overwrite_b debug check_finite assume_a
        solve_sylvester : A B C * method tol
        solve_triangular : a b trans lower unit_diagonal overwrite_b debug check_finite
        sqrtm : A blocksize
        svd : a full_matrices compute_uv overwrite_a check_finite lapack_driver
    """,
    "wick.scipy.special": """
        digamma entr exp1 expi expit gamma gammaln gammasgn i0 i0e i1 i1e logit ndtr spence : x
        log_ndtr : x series_order
        logsumexp : a axis b keepdims return_sign where
        ndtri : p
    """,
}


def _places(own, theirs):
    """For each of JAX's names that parameter of a function which it is, or None. A parameter without a name for callers is found by its position."""
    positional = [p.name for p in own.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    nameless = [p.name for p in own.values() if p.kind == p.POSITIONAL_ONLY]
    ordered = theirs[:theirs.index("*")] if "*" in theirs else theirs
    places = {}
    for k, name in enumerate(theirs):
        if k < min(len(ordered), len(nameless)):
            places[name] = nameless[k]
        elif name in own:
            places[name] = name
        elif k < len(ordered) and k < len(positional) and positional[k] not in theirs:
            places[name] = positional[k]
        elif name != "*":
            places[name] = None
    return ordered, places


def spelled(f, theirs):
    """f, which also takes its arguments by these names and in this order."""
    own = inspect.signature(f).parameters
    ordered, places = _places(own, theirs.split())
    leading = [p.name for p in own.values() if p.kind == p.POSITIONAL_ONLY]
    positional = [p.name for p in own.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    same = 0  # so many arguments mean the same in both orders
    while same < min(len(ordered), len(positional)) and places[ordered[same]] == positional[same]:
        same += 1

    @functools.wraps(f)
    def called(*args, **named):
        if len(args) <= same and all([n in own and n not in leading for n in named]):
            return f(*args, **named)
        if len(args) > len(ordered):
            return f(*args, **named)
        bound = {}
        for name, value in [*zip(ordered, args), *named.items()]:
            place = places.get(name, name)
            if place in bound:
                raise TypeError(f"{f.__name__}() got multiple values for argument {name!r}")
            if place is not None:
                bound[place] = value
            elif name not in _WITHOUT_EFFECT and value is not None and value is not False:
                raise Unsupported(f"{f.__name__}: the argument {name} is not supported")
        first = []
        for name in leading:
            if name not in bound:
                break
            first.append(bound.pop(name))
        return f(*first, **bound)

    return called


def spell(module, names):
    """The functions of a module's table, by name, in its dict."""
    for line in _TABLE[module].strip().splitlines():
        functions, _, theirs = line.partition(":")
        for name in functions.split():
            names[name] = spelled(names[name], theirs)
