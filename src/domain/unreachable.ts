/** Makes a `switch` a compile error if it does not handle every member of a union. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}
