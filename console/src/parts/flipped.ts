/** The set with `one` if it was not in it, and without it if it was: for what opens and closes. */
export function flipped<T>(set: ReadonlySet<T>, one: T): ReadonlySet<T> {
  const next = new Set(set)
  if (!next.delete(one)) next.add(one)
  return next
}
