"""The published split, transcribed literally from docs/protocol.md: slow, and meant to be read.

Nothing here is shared with the library, so that two independent readings of the protocol meet.
"""

import re

import numpy as np


def reference_split(rows, *, heldout_users, min_user, min_item, test_fraction=0.2, seed=98765):
    """`rows` are (user id, item id) strings, binarised, in file order. Returns the six files."""
    # 2. one pass: rare items first, then users with few rows
    if min_item > 0:
        count = {}
        for _, item in rows:
            count[item] = count.get(item, 0) + 1
        rows = [row for row in rows if count[row[1]] >= min_item]
    count = {}
    for user, _ in rows:
        count[user] = count.get(user, 0) + 1
    if min_user > 0:
        rows = [row for row in rows if count[row[0]] >= min_user]

    # 3. raw ids in ascending order
    users = sorted_ids({user for user, _ in rows}, [row[0] for row in rows])

    # 4. permute, cut
    permutation = np.random.RandomState(seed).permutation(len(users))
    permuted = [users[k] for k in permutation]
    uid = {user: k for k, user in enumerate(permuted)}
    n_train = len(users) - 2 * heldout_users
    validation = set(permuted[n_train : n_train + heldout_users])
    test = set(permuted[n_train + heldout_users :])

    # 5. items by first appearance among the training users
    sid = {}
    for user, item in rows:
        if uid[user] < n_train and item not in sid:
            sid[item] = len(sid)

    files = {"unique_sid.txt": "".join(f"{item}\n" for item in sid)}
    # 6. training rows in file order
    files["train.csv"] = as_csv([(uid[u], sid[i]) for u, i in rows if uid[u] < n_train])

    # 7. fold-in and held-out rows, the seed set again for each part
    for name, part in (("validation", validation), ("test", test)):
        random = np.random.RandomState(seed)
        kept, held = [], []
        for user in [user for user in users if user in part]:
            mine = [(uid[u], sid[i]) for u, i in rows if u == user and i in sid]
            chosen = set()
            if len(mine) >= 5:
                size = int(test_fraction * len(mine))
                chosen = set(random.choice(len(mine), size=size, replace=False).tolist())
            for position, row in enumerate(mine):
                (held if position in chosen else kept).append(row)
        files[f"{name}_tr.csv"] = as_csv(kept)
        files[f"{name}_te.csv"] = as_csv(held)
    return files


def sorted_ids(ids, all_ids):
    """Sort ids as integers if every id is in canonical decimal form, otherwise as strings."""
    if all(re.fullmatch("0|[1-9][0-9]*", each) for each in all_ids):
        return sorted(ids, key=int)
    return sorted(ids)


def as_csv(pairs):
    return "uid,sid\n" + "".join(f"{user},{item}\n" for user, item in pairs)
