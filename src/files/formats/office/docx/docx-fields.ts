// Fields of a Word document. A field is an instruction such as `HYPERLINK "https://…"` or `PAGE`, and the result that Word showed
// for it when the file was saved. Fields nest, and a result may span many paragraphs, as a table of contents does.

export interface DocxFields {
  begin(): void
  /** Adds a piece of the instruction. */
  instruct(text: string): void
  /** Ends the instruction and begins the result. */
  separate(): void
  end(): void
  /** Drops instructions that their paragraph does not finish: the text after them must not be lost. */
  endParagraph(): void
  /** Forgets all open fields. */
  clear(): void
  /** True while the text that comes is an instruction. */
  inInstruction(): boolean
  /** Where the open result links to. */
  link(): string | undefined
}

interface Field {
  instruction: string
  /** True once the result has begun. */
  inResult: boolean
  link: string | undefined
}

/** Deeper fields count as part of the field around them. Mail merges nest about ten. */
const maxFields = 50

const maxInstruction = 5_000

export function createDocxFields(): DocxFields {
  let fields: Field[] = []
  let beyond = 0

  return {
    begin() {
      if (fields.length < maxFields) fields.push({ instruction: '', inResult: false, link: undefined })
      else beyond += 1
    },
    instruct(text) {
      const field = fields.at(-1)
      if (field !== undefined && !field.inResult && field.instruction.length < maxInstruction) field.instruction += text
    },
    separate() {
      const field = fields.at(-1)
      if (field === undefined || beyond > 0) return
      field.inResult = true
      field.link = linkOf(field.instruction)
    },
    end() {
      if (beyond > 0) beyond -= 1
      else fields.pop()
    },
    endParagraph() {
      if (fields.some(({ inResult }) => !inResult)) fields = fields.filter(({ inResult }) => inResult)
    },
    clear() {
      fields = []
      beyond = 0
    },
    inInstruction: () => fields.some(({ inResult }) => !inResult),
    link: () => fields.findLast(({ link }) => link !== undefined)?.link,
  }
}

/** The address of a link. Undefined for other instructions and for links inside the document. */
export function linkOf(instruction: string): string | undefined {
  const [, target, place] = /^\s*HYPERLINK\s+"([^"]+)"(?:\s+\\l\s+"([^"]+)")?/i.exec(instruction) ?? []
  return target === undefined || place === undefined ? target : `${target}#${place}`
}
