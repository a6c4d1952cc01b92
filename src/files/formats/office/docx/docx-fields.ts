// Fields: an instruction such as `HYPERLINK "https://…"` or `PAGE`, and the result that Word showed for it when the file was
// saved. They nest, and the result may run over many paragraphs, as a table of contents does.

export interface DocxFields {
  begin(): void
  /** A piece of an instruction. */
  instruct(text: string): void
  /** The instruction is over, its result begins. */
  separate(): void
  end(): void
  /** An instruction that its paragraph does not finish is none: what follows must not be lost in it. */
  endParagraph(): void
  /** What stands here is an instruction, not text. */
  inInstruction(): boolean
  /** Where the result that stands here leads. */
  link(): string | undefined
}

interface Field {
  instruction: string
  shown: boolean
  link: string | undefined
}

/** Deeper ones are not told apart from what is around them. Mail merges nest some ten. */
const maxFields = 50

const maxInstruction = 5_000

export function createDocxFields(): DocxFields {
  let fields: Field[] = []
  let beyond = 0

  return {
    begin() {
      if (fields.length < maxFields) fields.push({ instruction: '', shown: false, link: undefined })
      else beyond += 1
    },
    instruct(text) {
      const field = fields.at(-1)
      if (field !== undefined && !field.shown && field.instruction.length < maxInstruction) field.instruction += text
    },
    separate() {
      const field = fields.at(-1)
      if (field === undefined || beyond > 0) return
      field.shown = true
      field.link = linkOf(field.instruction)
    },
    end() {
      if (beyond > 0) beyond -= 1
      else fields.pop()
    },
    endParagraph() {
      if (fields.some(({ shown }) => !shown)) fields = fields.filter(({ shown }) => shown)
    },
    inInstruction: () => fields.length > 0 && fields.some(({ shown }) => !shown),
    link: () => (fields.length === 0 ? undefined : fields.findLast(({ link }) => link !== undefined)?.link),
  }
}

/** Undefined for what is no link, and for one that leads to a place in the document. */
export function linkOf(instruction: string): string | undefined {
  const [, target, place] = /^\s*HYPERLINK\s+"([^"]+)"(?:\s+\\l\s+"([^"]+)")?/i.exec(instruction) ?? []
  return target === undefined || place === undefined ? target : `${target}#${place}`
}
