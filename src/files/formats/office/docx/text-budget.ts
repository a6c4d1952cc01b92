/** What a reader may keep of a file, spent in the order of reading. Behind it text is counted and no longer kept. */
export interface TextBudget {
  /** As much of the text as is left. */
  take(text: string): string
  /** For what will stand around the text: the bars of a table, the target of a link. */
  spend(characters: number): void
  /** All that was asked for. */
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
