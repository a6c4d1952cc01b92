// Drawings, of which one may hold another in its text box. Only those that show a picture say something here; charts and text
// boxes speak for themselves.

export interface DocxDrawings {
  start(): void
  /** The first description that says something counts. */
  describe(description: string | undefined): void
  addPicture(): void
  /** Its author says that there is nothing to see. */
  decorate(decorative: boolean): void
  /** What stands for the picture; empty where nothing describes it, undefined where there is none to speak of. */
  end(): string | undefined
}

export function createDocxDrawings(): DocxDrawings {
  const drawings: { description: string; picture: boolean; decorative: boolean }[] = []

  return {
    start: () => void drawings.push({ description: '', picture: false, decorative: false }),
    describe(description) {
      const drawing = drawings.at(-1)
      if (drawing?.description === '') drawing.description = description?.replace(/\s+/g, ' ').trim() ?? ''
    },
    addPicture() {
      const drawing = drawings.at(-1)
      if (drawing !== undefined) drawing.picture = true
    },
    decorate(decorative) {
      const drawing = drawings.at(-1)
      if (drawing !== undefined) drawing.decorative = decorative
    },
    end() {
      const drawing = drawings.pop()
      if (drawing?.picture !== true) return undefined
      if (drawing.description !== '') return `[Picture: ${drawing.description}]`
      return drawing.decorative ? undefined : ''
    },
  }
}
