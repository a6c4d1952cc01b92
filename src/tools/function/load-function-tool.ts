// `type: function`: an export of a module as a tool. What agent.yaml leaves out is read from the code.

import { readFile } from 'node:fs/promises'
import { ServerError } from '../../domain/errors.ts'
import type { FunctionToolSettings, JsonSchema } from '../../domain/tool-settings.ts'
import { createJsonCheck } from '../../json/json-schema.ts'
import type { ServerTool } from '../tool.ts'
import { toolBinding } from '../tool-binding.ts'
import { createFunctionCall } from './function-call.ts'
import { type LoadModuleDeps, loadModule } from './load-module.ts'
import { readCodeSchema } from './parameter-schema.ts'
import { type PickedExport, pickExport } from './pick-export.ts'
import { type DeclaredFunction, type Order, readFunction } from './source/read-parameters.ts'
import { lineAt, Unreadable } from './source/unreadable.ts'
import type { StandardSchema } from './standard-schema.ts'
import type { StrayErrors } from './stray-errors.ts'
import { toolConfigError } from './tool-config-error.ts'

/** `reload`: a number that is new each time a file has changed, so that it is loaded anew. */
export interface FunctionToolDeps extends LoadModuleDeps {
  strays: StrayErrors
}

/** Less says nothing to a model. */
const MIN_DESCRIPTION = 10

const WRITE_PARAMETERS =
  'Write parameters: in agent.yaml, or export { parameters: z.object({ … }), run } with a zod schema.'

/** Throws `config_invalid`, with the file and what to write. */
export async function loadFunctionTool(settings: FunctionToolSettings, deps: FunctionToolDeps): Promise<ServerTool> {
  const module = await loadModule(settings, deps)
  const picked = pickExport(settings, module.exports)
  const source = await readSource(settings)
  const { parameters, order, check } = parametersOf(settings, picked, source)
  return {
    location: 'server',
    name: settings.name,
    description: descriptionOf(settings, picked, source),
    parameters,
    returns: returnsOf(settings, picked),
    effect: settings.effect,
    risk: settings.risk,
    timeoutMs: settings.timeoutMs,
    retries: settings.retries,
    approval: settings.approval,
    predictState: settings.predictState,
    binding: toolBinding('function', { file: settings.file, export: settings.export, source: module.source }),
    call: createFunctionCall({ name: settings.name, run: picked.run, order, check, strays: deps.strays }),
  }
}

/** What the source declares. Where it cannot be read, that is an error only if nothing else says what is needed. */
interface Source {
  text: string
  declared: DeclaredFunction | Unreadable
}

async function readSource(settings: FunctionToolSettings): Promise<Source> {
  const text = await readFile(settings.file, 'utf8')
  return { text, declared: unlessUnreadable(() => readFunction(text, settings.export)) }
}

function unlessUnreadable<T>(read: () => T): T | Unreadable {
  try {
    return read()
  } catch (error) {
    if (error instanceof Unreadable) return error
    throw error
  }
}

interface Parameters {
  parameters: JsonSchema
  order: Order
  check: StandardSchema | null
}

function parametersOf(settings: FunctionToolSettings, picked: PickedExport, source: Source): Parameters {
  const { declared } = source
  const code = picked.parameters === undefined ? null : readCodeSchema(picked.parameters, 'input')
  const check = code?.check ?? null
  if (settings.parameters !== null) {
    const isPlain = code === null && picked.isBare && !(declared instanceof Unreadable)
    const order = isPlain ? orderFor(settings, settings.parameters, declared) : null
    return { parameters: settings.parameters, order, check }
  }
  if (code !== null) {
    if (code.json === null)
      throw toolConfigError(settings, `a model cannot be told its parameters: ${code.problem}. ${WRITE_PARAMETERS}`)
    if (code.json.type !== 'object')
      throw toolConfigError(settings, 'its parameters are not those of an object. Write e.g. z.object({ … })')
    refuseBroken(settings, code.json)
    return { parameters: code.json, order: null, check }
  }
  const read = declared instanceof Unreadable ? declared : unlessUnreadable(() => declared.parameters())
  if (read instanceof Unreadable) {
    const message = `its parameters cannot be read from the code: ${read.message}. ${WRITE_PARAMETERS}`
    throw toolConfigError(settings, message, { line: lineAt(source.text, read.position), cause: read })
  }
  return { parameters: read.schema, order: read.order, check }
}

/** Better now than at the first call. */
function refuseBroken(settings: FunctionToolSettings, schema: JsonSchema): void {
  try {
    createJsonCheck(schema)
  } catch (error) {
    if (error instanceof ServerError)
      throw toolConfigError(settings, `its parameters: ${error.message}`, { cause: error })
    throw error
  }
}

/**
 * How a function is called whose parameters stand in agent.yaml: one by one when its own are called like them, otherwise with one object.
 * A function that has some of them and others too would be called with nonsense either way.
 */
function orderFor(settings: FunctionToolSettings, schema: JsonSchema, declared: DeclaredFunction): Order {
  const known = Object.keys(schema.properties ?? {})
  const names = declared.names.filter((name) => name !== null)
  const shared = names.filter((name) => known.includes(name))
  if (declared.takesObject || shared.length === 0) return null
  const strange = names.filter((name) => !known.includes(name))
  if (strange.length === 0 && names.length === declared.names.length) return names
  const message = `agent.yaml has no parameter ${strange.join(', ') || 'for what the function takes apart'}, which the function declares. Write it there too, or take one object: (args, context).`
  throw toolConfigError(settings, message)
}

function descriptionOf(settings: FunctionToolSettings, picked: PickedExport, source: Source): string {
  if (settings.description !== null) return settings.description
  const fromComment = source.declared instanceof Unreadable ? '' : source.declared.description
  const description = typeof picked.description === 'string' ? picked.description.trim() : fromComment
  if (description.length >= MIN_DESCRIPTION) return description
  const problem =
    description === ''
      ? 'it has no description'
      : `its description is shorter than ${MIN_DESCRIPTION} characters: ${JSON.stringify(description)}`
  const help =
    'Say when and why to use it, with description: in agent.yaml or in a comment /** … */ above the function.'
  throw toolConfigError(settings, `${problem}. ${help}`)
}

function returnsOf(settings: FunctionToolSettings, picked: PickedExport): JsonSchema | null {
  if (settings.returns !== null || picked.returns === undefined) return settings.returns
  const { json, problem } = readCodeSchema(picked.returns, 'output')
  if (json === null)
    throw toolConfigError(
      settings,
      `what it returns cannot be told: ${problem}. Leave returns out, or write JSON Schema.`,
    )
  return json
}
