/** How much text a reader may keep of a file. Text beyond the limit is counted, but not kept. */
export interface TextBudget {
  /** Gives as much of the text as still fits. */
  take(text: string): string
  /** Counts characters that surround the text: the bars of a table, the target of a link. */
  spend(characters: number): void
  /** All characters that were counted so far. */
  asked(): number
}

export function createTextBudget(characters: number): TextBudget {
  let asked = 0

  return {
    take(text) {
      const left = characters - asked
      asked += text.length
      if (text.length <= left) return text
      return left > 0 ? text.slice(0, left) : ''
    },
    spend(more) {
      asked += more
    },
    asked: () => asked,
  }
}
