/** Makes a `switch` over a closed union a compile error when a member is added and not handled. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}
