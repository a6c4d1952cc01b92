// The drawings that are open while a Word document is read. A drawing may hold another one in its text box. Only drawings that show
// a picture give a text here; the words of charts and text boxes are read elsewhere.

export interface DocxDrawings {
  start(): void
  /** The first description that is not empty counts. */
  describe(description: string | undefined): void
  addPicture(): void
  /** Whether the author marked the drawing as decoration only. */
  decorate(decorative: boolean): void
  /** The text to show for the picture: empty without a description, undefined if there is no picture or it is decoration only. */
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
