/** How people type this program on the machine of the server. */
export interface ProgramWords {
  /** `quarterdeck`, or for example `npx quarterdeck`. */
  name: string
  /** The flag that leads a command to this server, with a space before it. Empty: the command finds it without. */
  dataDirFlag: () => string
}

/** Where nobody has said how: in another program, and in tests. */
export const plainProgram: ProgramWords = { name: 'quarterdeck', dataDirFlag: () => '' }

/** The text with every `quarterdeck <command>` as one types it here. */
export const spelled = (text: string, program: string): string =>
  text.replace(/(?<![\w./\\-])quarterdeck (?=<command>|\[|--|[a-z])/g, `${program} `)
