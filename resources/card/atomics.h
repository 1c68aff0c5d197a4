/* Included before everything else in the sources of a program of several threads whose time is measured, or that is built
 * with a sanitizer: atomic operations are points on the virtual clock. Volatile accesses, and operators on C's _Atomic
 * variables, are not. */
#ifndef RCW_ATOMICS_H
#define RCW_ATOMICS_H

#ifdef __cplusplus
extern "C"
#endif
void rcw_atomic_point(void);

#define __atomic_load_n(...) (rcw_atomic_point(), __atomic_load_n(__VA_ARGS__))
#define __atomic_load(...) (rcw_atomic_point(), __atomic_load(__VA_ARGS__))
#define __atomic_store_n(...) (rcw_atomic_point(), __atomic_store_n(__VA_ARGS__))
#define __atomic_store(...) (rcw_atomic_point(), __atomic_store(__VA_ARGS__))
#define __atomic_exchange_n(...) (rcw_atomic_point(), __atomic_exchange_n(__VA_ARGS__))
#define __atomic_exchange(...) (rcw_atomic_point(), __atomic_exchange(__VA_ARGS__))
#define __atomic_compare_exchange_n(...) (rcw_atomic_point(), __atomic_compare_exchange_n(__VA_ARGS__))
#define __atomic_compare_exchange(...) (rcw_atomic_point(), __atomic_compare_exchange(__VA_ARGS__))
#define __atomic_test_and_set(...) (rcw_atomic_point(), __atomic_test_and_set(__VA_ARGS__))
#define __atomic_clear(...) (rcw_atomic_point(), __atomic_clear(__VA_ARGS__))
#define __atomic_fetch_add(...) (rcw_atomic_point(), __atomic_fetch_add(__VA_ARGS__))
#define __atomic_fetch_sub(...) (rcw_atomic_point(), __atomic_fetch_sub(__VA_ARGS__))
#define __atomic_fetch_and(...) (rcw_atomic_point(), __atomic_fetch_and(__VA_ARGS__))
#define __atomic_fetch_or(...) (rcw_atomic_point(), __atomic_fetch_or(__VA_ARGS__))
#define __atomic_fetch_xor(...) (rcw_atomic_point(), __atomic_fetch_xor(__VA_ARGS__))
#define __atomic_fetch_nand(...) (rcw_atomic_point(), __atomic_fetch_nand(__VA_ARGS__))
#define __atomic_add_fetch(...) (rcw_atomic_point(), __atomic_add_fetch(__VA_ARGS__))
#define __atomic_sub_fetch(...) (rcw_atomic_point(), __atomic_sub_fetch(__VA_ARGS__))
#define __atomic_and_fetch(...) (rcw_atomic_point(), __atomic_and_fetch(__VA_ARGS__))
#define __atomic_or_fetch(...) (rcw_atomic_point(), __atomic_or_fetch(__VA_ARGS__))
#define __atomic_xor_fetch(...) (rcw_atomic_point(), __atomic_xor_fetch(__VA_ARGS__))
#define __atomic_nand_fetch(...) (rcw_atomic_point(), __atomic_nand_fetch(__VA_ARGS__))
#define __sync_fetch_and_add(...) (rcw_atomic_point(), __sync_fetch_and_add(__VA_ARGS__))
#define __sync_fetch_and_sub(...) (rcw_atomic_point(), __sync_fetch_and_sub(__VA_ARGS__))
#define __sync_fetch_and_and(...) (rcw_atomic_point(), __sync_fetch_and_and(__VA_ARGS__))
#define __sync_fetch_and_or(...) (rcw_atomic_point(), __sync_fetch_and_or(__VA_ARGS__))
#define __sync_fetch_and_xor(...) (rcw_atomic_point(), __sync_fetch_and_xor(__VA_ARGS__))
#define __sync_fetch_and_nand(...) (rcw_atomic_point(), __sync_fetch_and_nand(__VA_ARGS__))
#define __sync_add_and_fetch(...) (rcw_atomic_point(), __sync_add_and_fetch(__VA_ARGS__))
#define __sync_sub_and_fetch(...) (rcw_atomic_point(), __sync_sub_and_fetch(__VA_ARGS__))
#define __sync_and_and_fetch(...) (rcw_atomic_point(), __sync_and_and_fetch(__VA_ARGS__))
#define __sync_or_and_fetch(...) (rcw_atomic_point(), __sync_or_and_fetch(__VA_ARGS__))
#define __sync_xor_and_fetch(...) (rcw_atomic_point(), __sync_xor_and_fetch(__VA_ARGS__))
#define __sync_nand_and_fetch(...) (rcw_atomic_point(), __sync_nand_and_fetch(__VA_ARGS__))
#define __sync_bool_compare_and_swap(...) (rcw_atomic_point(), __sync_bool_compare_and_swap(__VA_ARGS__))
#define __sync_val_compare_and_swap(...) (rcw_atomic_point(), __sync_val_compare_and_swap(__VA_ARGS__))
#define __sync_lock_test_and_set(...) (rcw_atomic_point(), __sync_lock_test_and_set(__VA_ARGS__))
#define __sync_lock_release(...) (rcw_atomic_point(), __sync_lock_release(__VA_ARGS__))
#endif
