// Fields of a Word document. A field is an instruction such as `HYPERLINK "https://…"` or `PAGE`, and the result that Word showed
// for it when the file was saved. Fields nest, and a result may span many paragraphs, as a table of contents does.

interface Field {
  instruction: string
  inResult: boolean
  link: string | undefined
}

/** Deeper fields count as part of the field around them. Mail merges nest about ten. */
const maxFields = 50

const maxInstruction = 5_000

export function createDocxFields() {
  let fields: Field[] = []
  let beyond = 0

  return {
    begin(): void {
      if (fields.length < maxFields) fields.push({ instruction: '', inResult: false, link: undefined })
      else beyond += 1
    },
    instruct(text: string): void {
      const field = fields.at(-1)
      if (field !== undefined && !field.inResult && field.instruction.length < maxInstruction) field.instruction += text
    },
    /** Ends the instruction and begins the result. */
    separate(): void {
      const field = fields.at(-1)
      if (field === undefined || beyond > 0) return
      field.inResult = true
      field.link = linkOf(field.instruction)
    },
    end(): void {
      if (beyond > 0) beyond -= 1
      else fields.pop()
    },
    /** Drops instructions that their paragraph does not finish: the text after them must not be lost. */
    endParagraph(): void {
      if (fields.some(({ inResult }) => !inResult)) fields = fields.filter(({ inResult }) => inResult)
    },
    clear(): void {
      fields = []
      beyond = 0
    },
    /** True while the text that comes is an instruction. */
    inInstruction: (): boolean => fields.some(({ inResult }) => !inResult),
    /** Where the open result links to. */
    link: (): string | undefined => fields.findLast(({ link }) => link !== undefined)?.link,
  }
}

export type DocxFields = ReturnType<typeof createDocxFields>

/** The address of a link. Undefined for other instructions and for links inside the document. */
export function linkOf(instruction: string): string | undefined {
  const [, target, place] = /^\s*HYPERLINK\s+"([^"]+)"(?:\s+\\l\s+"([^"]+)")?/i.exec(instruction) ?? []
  return target === undefined || place === undefined ? target : `${target}#${place}`
}
