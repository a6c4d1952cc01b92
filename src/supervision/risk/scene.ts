// What the judges of a command line see and say.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { PathUse, Use } from './places.ts'
import type { WorkRisk } from './risk.ts'
import type { ShellWord } from './shell-words.ts'

export interface Scene {
  workspaceRoot: string
  /** The folders that the shell may be in; null: nobody knows. */
  folders: readonly string[] | null
  /** Words of downloads so far: the files are among them. */
  fetched: string[]
  /** What the program reads, or a word of it, is a download or decoded text. */
  tainted: boolean
  /** Texts that the program reads, as far as they are known. */
  input: readonly string[]
  /** The program runs for all files of these names, wherever they are in the folders that it is given. Null: only for those. */
  wholeTree: string | null
  /** The riskiest note counts. */
  note(risk: WorkRisk, why: string, action?: string | null): undefined
  /** The program as it was called. */
  called: string
  /**
   * The words that a remembered beginning has besides the program. The first to say it is right; null: it has none.
   * `ofHigh`: they are enough for a high program as well, if this is all that makes it high.
   */
  begins(words: readonly ShellWord[] | null, ofHigh?: string): undefined
  /** Judges a path from where the shell may be, and says what it is. */
  path(written: string, use: Use): PathUse[]
  /** The same for all paths that a word can be. */
  word(word: ShellWord, use: Use): undefined
  /** All files in a folder are read. */
  tree(folder: ShellWord): undefined
  /** A variable that a program gets, as `NAME=value`. */
  variable(assigned: string, isPlain: boolean): undefined
  /** Null: to a folder that nobody knows. */
  goTo(folder: string | null): undefined
  /** Judges a program with its words. */
  program(words: readonly ShellWord[]): undefined
  /** Judges the text of a command. */
  script(text: string): undefined
}

/** Whether there is a file or a folder of this name. */
export const isThere = ({ folders }: Scene, path: string): boolean =>
  folders?.some((folder) => existsSync(resolve(folder, path))) ?? true
