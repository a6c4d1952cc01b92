type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The members that have a value: where a record leaves a member out, the key is missing and not undefined. */
export function present<T extends object>(members: T): Present<T> {
  const shown: Record<string, unknown> = {}
  // A run does this ten times, and lists of entries would cost five times as much.
  for (const key in members) if (members[key] !== undefined) shown[key] = members[key]
  return shown as Present<T>
}
