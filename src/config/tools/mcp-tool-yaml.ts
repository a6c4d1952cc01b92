// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// The schema of a tool of the type `mcp`: a server whose tools the agent gets.

import { z } from 'zod'
import { key, oneOrMore, type Report, refusing, reporter, text } from '../source/schema-key.ts'
import { checkRetries, headers, name, ruleKeys, TOOL_NAME, toolNameWords, toolType } from './tool-keys.ts'

const nameList = 'a name or a glob, or a list of them'

const { predict_state: _, ...serverRules } = ruleKeys

const ofServer = 'The server describes each of its tools. Remove this key.'

export const mcpTool = refusing(
  z
    .strictObject({
      type: toolType('mcp'),
      name: key(name, 'The server’s name; it comes before the names of its tools where they would clash.', 'files'),
      command: key(
        text().optional(),
        'The program that is the server, started when it is first needed and spoken to over stdio. One that begins with `./` or `../` is taken relative to this file.',
        'npx',
      ),
      args: key(z.array(z.string()).optional(), 'The arguments of the program.', [
        '-y',
        '@modelcontextprotocol/server-filesystem',
        './notes',
      ]),
      env: key(
        z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().meta({ example: '${TOKEN}' })).optional(),
        'Its environment. It sees nothing else of the server’s own but PATH, HOME and the like.',
        { TOKEN: '${TOKEN}' },
        'variable names with text values',
      ),
      cwd: key(
        text().optional(),
        'The folder it is started in, relative to this file. Default: the folder of this file.',
        'data',
      ),
      url: key(
        z.url({ protocol: /^https?$/ }).optional(),
        'The address of a server that runs already (Streamable HTTP).',
        'https://mcp.example.com/mcp',
        'an http or https URL',
      ),
      headers: headers(),
      allow: key(oneOrMore(text()).optional(), 'The tools to offer. Default: all.', ['read_*'], nameList),
      deny: key(oneOrMore(text()).optional(), 'The tools not to offer, whatever `allow` says.', ['delete_*'], nameList),
      prefix: key(
        z.string().regex(TOOL_NAME).optional(),
        'Put in front of the name of every tool.',
        'files_',
        toolNameWords,
      ),
      trust_hints: key(
        z.boolean().default(false),
        'Believe what the server says about the effect of its tools (readOnlyHint, idempotentHint).',
        true,
      ),
      resources: key(z.boolean().default(false), 'Offer the resources of the server, as tools.', true),
      prompts: key(z.boolean().default(false), 'Offer the prompts of the server, as tools.', true),
      tools: key(
        z.record(z.string(), z.strictObject(ruleKeys)).default({}),
        'How single tools are run, by the server’s own name of each: `effect`, `risk`, `approval`, `timeout`, `retries`, `predict_state`.',
        { write_file: { risk: 'critical' } },
        'names of tools with keys such as effect and risk',
      ),
      ...serverRules,
    })
    .superRefine((tool, context) => {
      const report = reporter(context)
      checkConnection(tool, report)
      // What the server says about a tool may make its retries right.
      if (tool.trust_hints) return
      checkRetries(tool, 'once', report)
      for (const [one, rules] of Object.entries(tool.tools)) {
        checkRetries({ ...rules, effect: rules.effect ?? tool.effect }, 'once', (path, message) =>
          report(['tools', one, ...[path].flat()], message),
        )
      }
    }),
  {
    description: ofServer,
    parameters: ofServer,
    returns: ofServer,
    predict_state: 'This is set per tool. Write it under tools, at the tool you mean',
  },
)

interface Connection {
  command?: string | undefined
  args?: string[] | undefined
  env?: Record<string, string> | undefined
  cwd?: string | undefined
  url?: string | undefined
  headers?: Record<string, string> | undefined
}

function checkConnection(tool: Connection, report: Report): void {
  const { command, url } = tool
  if ((command === undefined) === (url === undefined)) {
    const found = command === undefined ? 'neither' : 'both'
    report(
      [],
      `expected exactly one of command and url, found ${found}. Write e.g. command: npx, or url: https://mcp.example.com/mcp`,
    )
    return
  }
  // A program in a folder with spaces in its name is named by its path.
  if (command !== undefined && /\s/.test(command.trim()) && !/[\\/]/.test(command.split(/\s/, 1)[0] ?? '')) {
    report('command', 'command is the program alone. Put its arguments in args, e.g. args: [ -y, a-server ]')
  }
  if (url !== undefined && /^https?:\/\/[^/?#]*@/i.test(url)) {
    report(
      'url',
      `a url must not contain a user name or password. Put them in headers, e.g. Authorization: Basic \${MY_CREDENTIALS}`,
    )
  }
  for (const key of url === undefined ? (['headers'] as const) : (['args', 'env', 'cwd'] as const)) {
    if (tool[key] === undefined) continue
    report(
      key,
      url === undefined
        ? 'a server started by a command has no headers. Remove them, or pass their values in env'
        : `a server at a url is not started by Quarterdeck, so it has no ${key}. Remove this key, or write command instead of url`,
    )
  }
}
