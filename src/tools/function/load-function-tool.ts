// `type: function`: an export of a module as a tool. A schema in the code or in agent.yaml says what it takes.

import { basename } from 'node:path'
import type { FunctionToolSettings, JsonSchema } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import { createJsonCheck } from '../../json/json-schema.ts'
import type { ServerTool } from '../tool.ts'
import { boundTool } from '../tool-binding.ts'
import { createFunctionCall, createReview } from './function-call.ts'
import type { ModuleExports } from './import-module.ts'
import { type LoadModuleDeps, loadModule, toolConfigError } from './load-module.ts'
import { readCodeSchema } from './read-code-schema.ts'
import type { StandardSchema } from './standard-schema.ts'
import type { StrayErrors } from './stray-errors.ts'

/** A shorter description tells a model nothing. */
const MIN_DESCRIPTION = 10

/** Throws `config_invalid`, with the file and what to write. */
export async function loadFunctionTool(
  settings: FunctionToolSettings,
  deps: LoadModuleDeps & { strays: StrayErrors },
): Promise<ServerTool> {
  const module = await loadModule(settings, deps)
  const picked = pickExport(settings, module.exports)
  const { parameters, check } = parametersOf(settings, picked)
  const described = { description: descriptionOf(settings, picked), parameters, returns: returnsOf(settings, picked) }
  const made = { file: settings.file, export: settings.export, source: module.source }
  return {
    location: 'server',
    ...boundTool('function', { ...settings, ...described }, made),
    action: () => `runs ${settings.export} in ${basename(settings.file)}`,
    ...createReview({ ...picked, name: settings.name, check, strays: deps.strays }),
    call: createFunctionCall({ name: settings.name, run: picked.run, check, strays: deps.strays }),
  }
}

interface Parameters {
  parameters: JsonSchema
  check: StandardSchema | null
}

/** The model reads the parameters of agent.yaml, if there are any. The schema in the code checks every call in any case. */
function parametersOf(settings: FunctionToolSettings, picked: PickedExport): Parameters {
  const code = picked.parameters === undefined ? null : readCodeSchema(picked.parameters, 'input')
  if (settings.parameters !== null) {
    if (code === null) refusePositional(settings, settings.parameters, picked)
    return { parameters: settings.parameters, check: code?.check ?? null }
  }
  if (code === null) throw hasNoSchema(settings, picked)
  if (code.json === null)
    throw toolConfigError(settings, `a model cannot be told its parameters: ${code.problem} ${DESCRIBE_IN_YAML}`)
  if (code.json.type !== 'object')
    throw toolConfigError(settings, 'its parameters do not describe an object. Write e.g. z.object({ … })')
  refuseBroken(settings, code.json)
  return { parameters: code.json, check: code.check }
}

const DESCRIBE_IN_YAML =
  'Or describe them with parameters: in agent.yaml for the model; a schema in the code still checks every call.'

/** The lines work as they are when they replace the export: people paste them. */
function hasNoSchema(settings: FunctionToolSettings, { plainText }: PickedExport): ServerError {
  const { export: name, file } = settings
  const declared = name === 'default' ? 'export default' : `export const ${name} =`
  const description = 'Say here when to use it.'
  const lines = [
    "import { defineTool } from 'quarterdeck'",
    "import { z } from 'zod'",
    `${declared} defineTool({ description: '${description}', parameters: z.object({ city: z.string() }), run: ({ city }) => city })`,
  ]
  const what = plainText === null ? 'has no parameters, so it does' : 'is a plain function and does'
  return toolConfigError(
    settings,
    `${name} ${what} not say which arguments it takes. Replace it in ${basename(file)}, with its own arguments in place of city:\n` +
      lines.map((line) => `    ${line}\n`).join('') +
      '  or keep it and describe it in agent.yaml:\n' +
      `    description: ${description}\n` +
      '    parameters: { city: { type: string } }',
  )
}

/**
 * A function gets all arguments as one object. If its first parameter has the name of an argument, the function expects that argument
 * alone, and would work with the wrong value.
 */
function refusePositional(settings: FunctionToolSettings, schema: JsonSchema, { plainText }: PickedExport): void {
  const first = FIRST_PARAMETER.exec(plainText ?? '')?.[1]
  const names = Object.keys(schema.properties ?? {})
  if (first === undefined || !names.includes(first)) return
  const message = `its function gets all arguments as one object, and its first parameter is ${first}. Write ({ ${names.join(', ')} }, context).`
  throw toolConfigError(settings, message)
}

/** The name of the first parameter, where it has one: `(city, …`, `async function f(city …`, `city =>`, but not `({ city }) =>`. */
const FIRST_PARAMETER = /^(?:async\b\s*)?(?:(?:function\b\s*\*?\s*)?[\w$]*\s*\(\s*)?([\w$]+)\s*[,)=]/

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

function descriptionOf(settings: FunctionToolSettings, picked: PickedExport): string {
  if (settings.description !== null) return settings.description
  const description = typeof picked.description === 'string' ? picked.description.trim() : ''
  if (description.length >= MIN_DESCRIPTION) return description
  const problem =
    description === ''
      ? 'it has no description'
      : `its description is shorter than ${MIN_DESCRIPTION} characters: ${JSON.stringify(description)}`
  const help = 'Say when and why to use it, with description: in defineTool or in agent.yaml.'
  throw toolConfigError(settings, `${problem}. ${help}`)
}

function returnsOf(settings: FunctionToolSettings, picked: PickedExport): JsonSchema | null {
  if (settings.returns !== null || picked.returns === undefined) return settings.returns
  const code = readCodeSchema(picked.returns, 'output')
  if (code.json === null) {
    throw toolConfigError(settings, `what it returns cannot be described: ${code.problem} Or leave returns out.`)
  }
  return code.json
}

/** The part of a module that is the tool: a function, or an object around one. */
interface PickedExport {
  run: (...args: unknown[]) => unknown
  /** The text of the function where the export is a plain function; null for an object around one. */
  plainText: string | null
  description: unknown
  parameters: unknown
  returns: unknown
  /** What the tool says about a call before it runs. */
  preview: AnyFunction | undefined
  needsApproval: AnyFunction | undefined
}

/** Names of the member of an exported object that is the function. */
const MEMBERS = ['run', 'execute'] as const

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown

/** Throws `config_invalid`. */
function pickExport(settings: FunctionToolSettings, module: ModuleExports): PickedExport {
  const value = exportOf(settings, module)
  if (!isFunction(value) && (typeof value !== 'object' || value === null)) {
    throw toolConfigError(
      settings,
      `the export ${settings.export} is ${kindOf(value)}. Export a tool that defineTool made: { description, parameters, run }.`,
    )
  }
  // A function may have them as properties.
  const about = {
    description: ownValue(value, 'description'),
    parameters: ownValue(value, 'parameters') ?? ownValue(value, 'inputSchema'),
    returns: ownValue(value, 'returns') ?? ownValue(value, 'outputSchema'),
    preview: reviewer(settings, value, 'preview'),
    needsApproval: reviewer(settings, value, 'needsApproval'),
  }
  if (isFunction(value)) {
    const plainText = Function.prototype.toString.call(value)
    if (/^class\b/.test(plainText))
      throw toolConfigError(settings, `the export ${settings.export} is a class. Export a tool that defineTool made.`)
    return { ...about, run: (...args) => value.apply(undefined, args), plainText }
  }
  const member = MEMBERS.map((name) => ownValue(value, name)).find(isFunction)
  if (member === undefined) {
    const message = `the export ${settings.export} has no function run. Write ${settings.export} = { …, run(args, context) { … } }.`
    throw toolConfigError(settings, message)
  }
  return { ...about, run: (...args) => member.apply(value, args), plainText: null }
}

/** A reviewer that cannot be called would silently never be asked. */
function reviewer(
  settings: FunctionToolSettings,
  holder: object,
  key: 'preview' | 'needsApproval',
): AnyFunction | undefined {
  const value = ownValue(holder, key)
  if (value === undefined) return undefined
  if (!isFunction(value))
    throw toolConfigError(settings, `${key} is ${kindOf(value)}. Write ${key}(args, context) { … }.`)
  return (...args) => value.apply(holder, args)
}

function exportOf(settings: FunctionToolSettings, module: ModuleExports): unknown {
  const { export: name } = settings
  // A namespace has no prototype, so every property is an export.
  if (name in module) return module[name]
  // Node does not see every named export of a CommonJS module.
  const whole = 'module.exports' in module ? module['module.exports'] : undefined
  if (typeof whole === 'object' && whole !== null && Object.hasOwn(whole, name)) return ownValue(whole, name)
  const names = Object.keys(module).filter((key) => key !== 'module.exports')
  const near = names.find((key) => plainName(key) === plainName(name)) ?? (names.length === 1 ? names[0] : undefined)
  const help = near === undefined ? 'Name one of them with export: in agent.yaml.' : `Write export: ${near}`
  throw toolConfigError(
    settings,
    names.length === 0
      ? `the file exports nothing. Write export const ${name} = defineTool({ … })`
      : `there is no export ${name}. The file exports ${names.join(', ')}. ${help}`,
  )
}

/** `get_weather` and `getWeather` are one name in two styles. */
const plainName = (name: string): string => name.replaceAll('_', '').toLowerCase()

const ownValue = (holder: object, key: string): unknown => Reflect.get(holder, key)

const isFunction = (value: unknown): value is AnyFunction => typeof value === 'function'

const kindOf = (value: unknown): string => (value === null ? 'null' : `a value of type ${typeof value}`)
