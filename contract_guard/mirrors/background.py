"""How often operations occur in general: of 10,000 functions, how many have a fragment.

Counted over 23,704 functions of seven public packages (two without arrays). A project's own counts
are added to these, so that rarity means something in a project of twenty functions too.
"""

PER = 10_000

_OPERATIONS = """
    if:5312 getitem:3225 eq:3003 ne:1998 not:1822 and:1773 add:1530 isinstance:1334 len:1325
    lt:1285 or:1223 mul:1058 sub:1051 where:1028 in:910 ValueError:854 arange:728 le:623
    append:578 super:573 div:502 not_in:501 getattr:475 get:468 sum:407 list:387 type:384
    floordiv:365 max:356 set:351 items:349 reshape:345 min:316 hasattr:309 enumerate:299
    __init__:288 any:280 zeros:272 int:254 TypeError:252 zip:238 empty:231 os.path.join:227
    warn:223 str:219 neg:215 mod:213 all:208 pop:197 tuple:192 float:181 cast:178 values:172
    sort:167 load:157 split:147 NotImplementedError:142 matmul:138 RuntimeError:135 pow:133
    update:132 dict:130 store:123 isna:119 program_id:118 cat:109 info:106 bool:103 next:103
    extend:101 startswith:99 keys:93 debug:92 ceil_div:91 find_stack_level:89 issparse:89
    is_directed:88 fit:86 abs:84 apply:84 is_list_like:83 print:83 map:80 replace:80 take:80
    ravel:78 iter:76 strip:76 callable:75 stride:74 _simple_new:73 empty_like:72 ones:70 shape:70
    unsqueeze:70 __sklearn_tags__:69 Index:68 add_edge:67 edges:66 full:66 log:66 sqrt:66
    unique:66 check_array:64 get_namespace:63 open:63 dtype:62 lower:62 partial:62 slice:62
    mean:60 warning:60 check_random_state:58 exp:57 is_integer:57 write:57 Series:54 transpose:54
    add_edges_from:53 isnan:53 defaultdict:52 func:52 __finalize__:51 InvalidArgument:50 clamp:49
    setattr:49 error:48 exists:48 numel:47 is_multigraph:46 read:46 remove:45 to_numpy:45
    close:44 get_namespace_and_device:44 _from_pyarrow_array:43 clear:43 cumsum:43
    get_ascend_config:43 repeat:43 squeeze:43 Path:42 current_stream:42 is_scalar:42
    save_for_backward:42 argsort:41 add_nodes_from:40 cls:40 decode:40 device:40 empty_graph:40
    zeros_like:40 argmax:39 compile:39 AbstractMethodError:38 KeyError:38 _constructor:38
    encode:38 next_power_of_2:38 transform:38 AttributeError:37 endswith:37 fill:37 gather:36
    issubclass:36 ceil:35 insert:35 nodes:35 num_programs:35 _get_axis_number:33 degree:32
    finfo:32 is_np_dtype:32 nonzero:32 _num_samples:31 draw:31 element_size:31 predict:31
    AssertionError:30 ImportError:30 _from_sequence:30 catch_warnings:30 data_ptr:30 get_tags:30
    import_optional_dependency:30 index:30 repr:30 _routing_enabled:29 process_routing:29
    union:29 DataFrame:28 Graph:28 _wrap_result:28 equals:28 launch:28 move_to:28 reversed:28
    setdefault:28 choice:27 dim:27 fit_transform:27 group:27 pandas_dtype:27 randint:27
    signature:27 uniform:27 wraps:27 _check_sample_weight:26 fromkeys:26
    get_ascend_device_type:26 lshift:26 _enforce_estimator_tags_X:25 count:25 extract_array:25
    flatten:25 search:25 add_node:24 chain:24 deepcopy:24 get_current_vllm_config:24
    get_npu_core_count:24 is_contiguous:24 is_object_dtype:24 model:24 reindex:24
    safe_sparse_dot:24 scatter:24 set_random_state:24 skipUnless:24 validate_bool_kwarg:24
    Parallel:23 delayed:23 errstate:23 pad:23 random:23 text:23 Parameter:22 PartialState:22
    _constructor_from_mgr:22 _str_map:22 bid:22 default_index:22 diff:22 f:22 get_loc:22
    intersection:22 notna:22 prod:22 searchsorted:22 subgraph:22 time:22 wait:22
    _align_api_if_sparse:21 _enforce_estimator_tags_y:21 _get_axis:21 _is_numpy_namespace:21
    _raise_for_params:21 _reduce:21 discard:21 frozenset:21 match:21 parse:21 pprint_thing:21
    rstrip:21 run:21 tocsr:21 IndexError:20 RandomState:20 Timedelta:20 _fit:20 check_type:20
    findall:20 is_float:20 norm:20 number_of_nodes:20 op:20 predict_proba:20 round:20
    splitlines:20 DiGraph:19 MethodType:19 _clear_cache:19 _manual_routing:19
    ensure_platform_int:19 filter:19 find:19 hstack:19 is_available:19 is_classifier:19
    is_connected:19 neighbors:19 sigmoid:19 toarray:19 upper:19 as_unit:18
    ensure_wrapped_if_datetimelike:18 get_indexer:18 getvalue:18 has_edge:18 iinfo:18
    is_bool_dtype:18 vstack:18 LigerForCausalLMLoss:17 check_consistent_length:17
    current_device:17 hash:17 is_integer_dtype:17 is_numeric_dtype:17 is_string_dtype:17
    lm_head:17 loss_function:17 rsqrt:17 simplefilter:17 synchronize:17
    unpack_cross_entropy_result:17 Bunch:16 MetadataRouter:16 MethodMapping:16 NodeNotFound:16
    Timestamp:16 __new__:16 _is_package_available:16 array_namespace:16 chunked_array:16
    combinations:16 difference:16 ensure_index:16 flatnonzero:16 id:16 number_of_edges:16
    remove_edge:16 shuffle:16 stack:16 to_offset:16 column_or_1d:15 csr_array:15 get_params:15
    linspace:15
"""

_WITH_LEAF = """
    ne>None:1359 eq>None:1315 getitem>0:1048 getitem>shape:596 add>1:587 eq>0:564 sub>1:516
    lt>0:451 eq>1:426 getitem>1:414 lt>1:281 getitem>-1:267 getitem>i:228 getattr>None:224
    isinstance>str:216 where>None:184 getitem>list:181 eq>dtype:167 eq>ndim:163 le>0:163
    reshape>-1:162 mul>2:157 arange>0:154 type>self:154 eq>2:150 getitem>v:147 axis=>1:142
    axis=>0:140 where>0:140 ne>0:139 isinstance>dtype:132 copy=>False:116 add>i:113
    getitem>dict:113 getitem>u:113 getitem>key:111 or>None:106 div>1:104 eq>kind:104
    isinstance>dict:99 isinstance>ndarray:96 pow>2:92 ne>dtype:90 isinstance>list:84 other=>0:83
    in>kind:82 strict=>True:81 ne>1:80 isinstance>int:78 getitem>name:77 isinstance>tuple:77
    getitem>int:76 le>1:76 floordiv>2:75 where>1:75 getitem>n:73 is_directed>G:73 len>self:73
    pop>None:70 getitem>k:69 isinstance>value:68 getattr>self:67 getitem>data:67 in>name:65
    isinstance>other:65 max>1:64 eq>name:63 len>G:63 getattr>False:62 lt>2:62 getitem>mask:61
    getitem>result:59 getitem>self:59 getitem>2:58 check_random_state>random_state:57
    getitem>G:57 arange>BLOCK_SIZE:55 getitem>tuple:55 stride>0:55
    edges>G:54 eq>axis:54 hasattr>self:54 isinstance>MultiIndex:52 getitem>str:51
    getitem>values:51 eq>True:50 getitem>set:50 getitem>x:50 arange>1:49 eq>-1:49 eq>method:49
    reshape>1:49 ceil_div>triton:48 isinstance>result:48 max>0:47 ValueError>msg:46 dim=>0:46
    div>2:44 isinstance>obj:44 lt>ndim:44 matmul>T:44 os.path.join>path:44 reset=>False:44
    _from_pyarrow_array>self:43 fit>y:43 getitem>idx:43 getitem>kwargs:43 getitem>nodes:43
    len>columns:43 sub>n:43 __finalize__>self:42 getitem>index:42 getitem>j:42
    save_for_backward>ctx:42 eq>False:41 getitem>d:41 getitem>iloc:41 encoding=>'utf-8':40
"""


def _table(text: str) -> dict[str, int]:
    return {name: int(count) for name, _, count in (item.rpartition(":") for item in text.split())}


FREQUENCIES = _table(_OPERATIONS) | _table(_WITH_LEAF)
