// Reads the list of tools from an MCP server. It is read with tolerance: one broken tool must not hide the others.

import { z } from 'zod'
import type { JsonSchema } from '../../../domain/agent/tool-settings.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { Logger } from '../../../domain/logger.ts'
import { type McpConnection, NO_TIMEOUT_MS } from '../connection/mcp-connection.ts'

export interface ListedTool {
  /** The name that the server gives it. */
  name: string
  description: string
  inputSchema: JsonSchema & { type: 'object' }
  outputSchema: JsonSchema | null
  readOnly: boolean
  idempotent: boolean
  ui: ListedUi
  /** Everything that the server says about the tool, unchanged. */
  definition: unknown
}

/** MCP Apps: the page that shows the tool's results, and who may call the tool. */
interface ListedUi {
  resourceUri: string | null
  forModel: boolean
  forApp: boolean
}

const MAX_TOOLS = 500
const MAX_PAGES = 100
const SHOWN_PROBLEMS = 10

/** Lists the wanted tools that the server offers now. There is a limit, because every tool costs the model something. */
export async function listTools(
  connection: McpConnection,
  wanted: (name: string) => boolean,
  log: Logger,
  signal: AbortSignal,
): Promise<ListedTool[]> {
  const tools: ListedTool[] = []
  const broken: string[] = []
  let tooMany = false
  for await (const listed of offered(connection, signal)) {
    const tool = readListedTool(listed)
    if (!wanted(tool.name)) continue
    tooMany = tools.length === MAX_TOOLS
    if (tooMany) break
    if ('problem' in tool) broken.push(`${tool.name}: ${tool.problem}`)
    else tools.push(tool)
  }
  if (tooMany) {
    log.warn(
      `The MCP server has more than ${MAX_TOOLS} tools. The rest is left out. Choose tools with \`allow\` and \`deny\`.`,
    )
  }
  if (broken.length > 0) {
    log.warn('Some tools of the MCP server cannot be used and are left out.', {
      count: broken.length,
      problems: broken.slice(0, SHOWN_PROBLEMS),
    })
  }
  return tools
}

async function* offered(connection: McpConnection, signal: AbortSignal): AsyncIterable<unknown> {
  if (connection.capabilities.tools === undefined) return
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page += 1) {
    // The SDK's listTools refuses the whole list because of one bad tool, and has no limit on pages.
    const answer = await connection.client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      toolPageSchema,
      { signal, timeout: NO_TIMEOUT_MS },
    )
    yield* answer.tools
    if (answer.nextCursor === undefined || answer.nextCursor === cursor) return
    cursor = answer.nextCursor
  }
}

const toolPageSchema = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().optional() })

const MAX_DESCRIPTION_CHARS = 10_000
const MAX_SCHEMA_CHARS = 100_000

const absent = <T>(value: T | null | undefined): T | undefined => value ?? undefined

const listedSchema = z.object({
  name: z.string().min(1).max(1_000),
  title: z.string().nullish().transform(absent),
  description: z.string().nullish().transform(absent),
  inputSchema: z.record(z.string(), z.unknown()).nullish().transform(absent),
  outputSchema: z.unknown().optional(),
  execution: z.object({ taskSupport: z.unknown().optional() }).nullish().transform(absent),
  annotations: z
    .object({ title: z.unknown(), readOnlyHint: z.unknown(), idempotentHint: z.unknown() })
    .partial()
    .nullish()
    .transform(absent),
})

/** Returns the tool, or what is wrong with it. */
function readListedTool(listed: unknown): ListedTool | { name: string; problem: string } {
  const read = listedSchema.safeParse(listed)
  const name = nameOf(listed)
  if (!read.success) {
    const [issue] = read.error.issues
    return { name, problem: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a tool'}` }
  }
  const { title, description, inputSchema = {}, outputSchema, annotations, execution } = read.data
  if (execution?.taskSupport === 'required') return { name, problem: 'it runs only as a task, which is not supported' }
  const type = inputSchema.type ?? 'object'
  if (type !== 'object') return { name, problem: `its arguments are not an object but ${JSON.stringify(type)}` }
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA_CHARS) {
    return { name, problem: `the schema of its arguments is longer than ${MAX_SCHEMA_CHARS} characters` }
  }
  const text = (description ?? title ?? '').trim()
  return {
    name,
    description: text.length > MAX_DESCRIPTION_CHARS ? `${text.slice(0, MAX_DESCRIPTION_CHARS)} …` : text,
    inputSchema: objectSchema(inputSchema),
    outputSchema: outputSchemaOf(outputSchema),
    readOnly: annotations?.readOnlyHint === true,
    idempotent: annotations?.idempotentHint === true,
    ui: uiOf(listed),
    definition: definitionOf(listed),
  }
}

const MAX_URI_CHARS = 1_000

/** Older servers name the page beside `ui`. What cannot be read counts as not said: model and apps may call the tool then. */
function uiOf(listed: unknown): ListedUi {
  const meta = isRecord(listed) && isRecord(listed._meta) ? listed._meta : {}
  const ui = isRecord(meta.ui) ? meta.ui : {}
  const uri = ui.resourceUri ?? meta['ui/resourceUri']
  const isPage = typeof uri === 'string' && uri.startsWith('ui://') && uri.length <= MAX_URI_CHARS
  const says = (who: string): boolean => !Array.isArray(ui.visibility) || ui.visibility.includes(who)
  return { resourceUri: isPage ? uri : null, forModel: says('model'), forApp: says('app') }
}

/** Leaves out `_meta`: it is meant for display and may differ in every answer. */
function definitionOf(listed: unknown): unknown {
  const { _meta: _shown, ...definition } = isRecord(listed) ? listed : {}
  return definition
}

function objectSchema(schema: JsonSchema): JsonSchema & { type: 'object' } {
  // The draft of a schema means nothing to a model, and some providers refuse the key.
  const { $schema: _draft, properties, ...rest } = schema
  return { ...rest, type: 'object', properties: isRecord(properties) ? properties : {} }
}

function outputSchemaOf(schema: unknown): JsonSchema | null {
  if (!isRecord(schema) || JSON.stringify(schema).length > MAX_SCHEMA_CHARS) return null
  const { $schema: _draft, ...rest } = schema
  return rest
}

function nameOf(listed: unknown): string {
  const name = isRecord(listed) ? listed.name : undefined
  return typeof name === 'string' ? name.slice(0, 1_000) : '(without a name)'
}
