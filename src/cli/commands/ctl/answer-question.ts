// The answer to a question of a tool: from the command line, or field by field at the terminal.

import { isRecord } from '../../../domain/is-record.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import { CliError, failure, usageError } from '../../cli-error.ts'
import type { Io } from '../../terminal/io.ts'
import { confirm, createTerminalPrompt } from '../../terminal/terminal-prompt.ts'
import { exactValue } from '../../terminal/terminal-text.ts'
import { actionOf, checkDigest, sendAnswer, showBefore } from './answer.ts'
import type { CtlContext } from './ctl-server.ts'
import type { ShownRecord } from './records.ts'

export interface QuestionFlags {
  /** Fields of the answer, as `name=value`. */
  set?: string[]
  /** The digest of what was shown, by a program that showed it. */
  digest?: string
}

export async function answerQuestion(
  record: ShownRecord,
  text: string,
  { set = [], digest }: QuestionFlags,
  context: CtlContext,
): Promise<void> {
  const action = actionOf(record, 'answer')
  const schema = record.question?.schema ?? {}
  if (text !== '' && set.length > 0) throw usageError('Give the whole answer, or its fields with --set, but not both.')
  const given = text !== '' ? readAnswer(text, schema) : set.length > 0 ? readFields(set, schema) : undefined
  if (digest !== undefined) checkDigest(digest, record)
  const isAtTerminal = digest === undefined && showBefore(record, context)
  if (given === undefined && !isAtTerminal) {
    throw usageError(`Write the answer: ${usage(schema, record.view.id)}`)
  }
  if (given !== undefined && isAtTerminal) await confirm('Send your answer?', context.io)
  const result = given === undefined ? await askFor(schema, context.io) : given
  await sendAnswer(record, action, { more: { result } }, context)
}

type Schema = Record<string, unknown>

const fieldsOf = (schema: Schema): Map<string, unknown> =>
  new Map(Object.entries(isRecord(schema.properties) ? schema.properties : {}))

const isText = (schema: unknown): boolean => isRecord(schema) && (schema.type === 'string' || isTextChoice(schema))

/** A choice between texts needs no type. */
function isTextChoice({ enum: values, oneOf, anyOf }: Schema): boolean {
  const choices = [values, oneOf, anyOf].find(Array.isArray) ?? []
  return choices.length > 0 && choices.every((one) => typeof (isRecord(one) ? one.const : one) === 'string')
}

function usage(schema: Schema, id: string): string {
  const names = [...fieldsOf(schema).keys()].slice(0, 5)
  const words = names.map((name) => `--set ${exactValue(name)}=…`).join(' ')
  return `quarterdeck ctl answer ${id} ${words === '' ? '<answer>' : words}`
}

/** A text is taken as it is. Everything else is JSON. */
function readAnswer(text: string, schema: Schema): unknown {
  if (isText(schema)) return text
  const value = jsonIn(text)
  if (value !== undefined) return value
  const how = fieldsOf(schema).size > 0 ? 'Write it as JSON, or its fields with --set name=value.' : 'Write it as JSON.'
  throw usageError(`The answer is not a text but a value. ${how}`)
}

function readFields(set: readonly string[], schema: Schema): Record<string, unknown> {
  const fields = fieldsOf(schema)
  const answer = new Map<string, unknown>()
  for (const one of set) {
    const at = one.indexOf('=')
    const name = one.slice(0, Math.max(at, 0))
    if (at < 1) throw usageError(`--set ${exactValue(one)}: expected the name of a field, =, and its value.`)
    if (!fields.has(name)) {
      const known = [...fields.keys()].map(exactValue).join(', ')
      throw usageError(
        `The question has no field ${exactValue(name)}. ${known === '' ? 'It has none.' : `It has: ${known}.`}`,
      )
    }
    if (answer.has(name)) throw usageError(`The field ${exactValue(name)} is given twice.`)
    answer.set(name, readField(one.slice(at + 1), fields.get(name), name))
  }
  return Object.fromEntries(answer)
}

function readField(text: string, schema: unknown, name: string): unknown {
  if (isText(schema)) return text
  const value = jsonIn(text)
  if (value !== undefined) return value
  throw usageError(`The field ${exactValue(name)} needs a number, true, false or other JSON. A text in it has quotes.`)
}

/** One line for each field; an empty one leaves out a field that is not needed. */
async function askFor(schema: Schema, io: Io): Promise<unknown> {
  const fields = fieldsOf(schema)
  if (fields.size === 0) return await typed('Your answer: ', io, (line) => readAnswer(line, schema))
  const required = Array.isArray(schema.required) ? schema.required : []
  const answer = new Map<string, unknown>()
  for (const [name, field] of fields) {
    const usual = isRecord(field) && field.default !== undefined ? JSON.stringify(field.default) : ''
    const draft = isText(field) && isRecord(field) && typeof field.default === 'string' ? field.default : usual
    const value = await typed(
      `${exactValue(name)}: `,
      io,
      (line) => (line.trim() === '' ? undefined : readField(line, field, name)),
      { draft, isNeeded: required.includes(name) },
    )
    if (value !== undefined) answer.set(name, value)
  }
  return Object.fromEntries(answer)
}

/** Asks until the line can be read. Ctrl-C throws `CliError`: nothing has happened then. */
async function typed(
  label: string,
  io: Io,
  read: (line: string) => unknown,
  { draft = '', isNeeded = true }: { draft?: string; isNeeded?: boolean } = {},
): Promise<unknown> {
  // A draft is typed into the terminal, so it must not hold anything but plain text.
  for (let begun = /^[ -~]*$/.test(draft) ? draft : ''; ; begun = '') {
    const asked = await createTerminalPrompt(io, label, begun).ask()
    if (asked.type !== 'line') throw failure('Left as it is. Nothing has changed.')
    if (asked.line.trim() === '' && isNeeded) {
      io.stdout.write(`This is needed. To refuse to answer: Ctrl-C, then ${io.program()} ctl reject.\n`)
      continue
    }
    try {
      return read(asked.line)
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      io.stdout.write(`${error.message}\n`)
    }
  }
}
