// A change that somebody makes in a long text, for the draft.

/** What differs, and where it begins and ends. The rest of the file is not kept: it may be long, and not for every eye. */
export function changeIn(before: string, after: string): string {
  const shortest = Math.min(before.length, after.length)
  let [start, end] = [0, 0]
  while (start < shortest && before[start] === after[start]) start += 1
  while (end < shortest - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return `${before.length} ${start} ${end} ${after.slice(start, after.length - end)}`
}

/** The file without the change if the change was made in another file. */
export function withChange(before: string, change: string): string {
  const [, length, start, end, text] = /^(\d+) (\d+) (\d+) (.*)$/s.exec(change) ?? []
  if (Number(length) !== before.length || text === undefined) return before
  return before.slice(0, Number(start)) + text + before.slice(before.length - Number(end))
}
