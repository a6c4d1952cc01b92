/** Without the members that have no value: the client sends what is there, and empty text asks for empty text. */
export function given<T extends object>(options: T): { [Name in keyof T]?: Exclude<T[Name], null | undefined | ''> } {
  const set = Object.entries(options).filter(([, value]) => value !== null && value !== undefined && value !== '')
  return Object.fromEntries(set) as ReturnType<typeof given<T>>
}
