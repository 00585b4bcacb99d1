/** Of a member of a group that leaves it before it ends: longer than a busy machine keeps it from saying that it is there. */
export const STAYING_SESSION_MS = 6_000;

/** Of one that is killed: the group notices soon, and also where it is only late. */
export const KILLED_SESSION_MS = 1_500;
