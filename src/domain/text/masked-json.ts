// JSON text without the values whose names stand for secrets. The text may come in pieces, so it is read one character at a time.

import { jsonIn } from '../json-in.ts'
import { looksSecret, MASKED } from './secret-name.ts'

/**
 * Takes the pieces of one JSON text and gives each back without secrets. What is not JSON could hold a secret anywhere: from there on
 * nothing is given back.
 */
export function createJsonMask(): (piece: string) => string {
  /** The brackets that are open. */
  const open: string[] = []
  let isInString = false
  let isEscaped = false
  /** An object wants a name next. */
  let wantsName = false
  /** The last name as written. Null: the last string is a value. */
  let name: string | null = null
  /** The last name is secret, and its value has not begun. */
  let isSecret = false
  /** How many brackets were open where the secret began. Null: nothing is left out. */
  let leavesOutAt: number | null = null
  let isBroken = false

  function readInString(character: string): void {
    if (!isEscaped && character === '"') {
      isInString = false
      return
    }
    isEscaped = !isEscaped && character === '\\'
    if (name !== null) name += character
  }

  function readOutside(character: string): void {
    // What follows is not the value of this name, so nobody knows whose it is.
    if (name !== null && character !== ':') {
      isBroken = true
      return
    }
    switch (character) {
      case '"':
        isInString = true
        isBroken = open.length === 0
        name = wantsName ? '' : null
        wantsName = false
        break
      case ':':
        // A name where none may be, such as after a missing comma.
        isBroken = name === null
        isSecret = name !== null && isSecretName(name)
        name = null
        break
      case ',':
        wantsName = open.at(-1) === '{'
        break
      case '}':
      case ']':
        open.pop()
        wantsName = false
        break
      case '{':
      case '[':
        isBroken = wantsName
        open.push(character)
        wantsName = character === '{'
        break
      default:
        // A name without quotes, or text around the JSON.
        isBroken = wantsName || open.length === 0
    }
  }

  function read(character: string): string {
    if (isInString) readInString(character)
    else if (!/\s/.test(character)) {
      if (leavesOutAt === open.length && /[,}\]]/.test(character)) leavesOutAt = null
      const beginsSecret = isSecret && leavesOutAt === null
      if (beginsSecret) leavesOutAt = open.length
      isSecret = false
      readOutside(character)
      if (beginsSecret) return `"${MASKED}"`
    }
    return leavesOutAt === null && !isBroken ? character : ''
  }

  return (piece) => {
    let text = ''
    for (const character of piece) if (!isBroken) text += read(character)
    return text
  }
}

function isSecretName(written: string): boolean {
  const name = jsonIn(`"${written}"`)
  return typeof name !== 'string' || looksSecret(name)
}
