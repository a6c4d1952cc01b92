/** The source says something that this reader does not understand. It never guesses: the loader tells the user what to write instead. */
export class Unreadable extends Error {
  /** Offset in the source. */
  readonly position: number

  constructor(position: number, message: string) {
    super(message)
    this.name = 'Unreadable'
    this.position = position
  }
}

/** 1-based. */
export function lineAt(text: string, position: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < position; at = text.indexOf('\n', at + 1)) line += 1
  return line
}
