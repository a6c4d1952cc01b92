// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// The schema of a tool of type `mcp`: an MCP server whose tools the agent can call.

import { z } from 'zod'
import { isLoopback } from '../../domain/is-loopback.ts'
import { httpUrlKey, key, type Report, refusing, reporter, text } from '../source/schema-key.ts'
import { checkRetries, globs, headers, name, ruleKeys, TOOL_NAME, toolNameWords, toolType } from './tool-keys.ts'

const nameList = 'a name or a glob, or a list of them'

const { predict_state: _, ...serverRules } = ruleKeys

const ofServer = 'The server describes each of its tools. Remove this key.'

const authKeys = {
  per: key(
    z.enum(['server', 'user']).default('server'),
    'Who signs in: an operator, once for everybody (`server`), or each user for their own sessions (`user`).',
    'user',
  ),
  client_id: key(
    text().optional(),
    'The client id that the authorization server has given you. Default: the server’s own client document where `channels.public_url` is https, otherwise it registers by itself.',
    'quarterdeck',
  ),
  client_secret: key(text().optional(), 'The secret that belongs to the client id.', '${CRM_CLIENT_SECRET}'),
  scope: key(
    text().optional(),
    'Rights to ask for, with spaces between. Default: what the server names.',
    'read write',
  ),
  allow_private: key(
    z.boolean().default(false),
    'Also use an authorization server at an address that is not public. The address of `url` itself is always allowed.',
    true,
  ),
}

export const mcpTool = refusing(
  z
    .strictObject({
      type: toolType('mcp'),
      name: key(
        name,
        'Name of the server. It is put before the names of its tools if they would clash with others.',
        'files',
      ),
      command: key(
        text().optional(),
        'Program to start as the server, over stdio. A path that starts with `./` or `../` is relative to this file.',
        'npx',
      ),
      args: key(z.array(z.string()).optional(), 'Arguments of the program.', [
        '-y',
        '@modelcontextprotocol/server-filesystem',
        './notes',
      ]),
      env: key(
        z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().meta({ example: '${TOKEN}' })).optional(),
        'Environment variables of the program. From Quarterdeck’s own environment it only gets PATH, HOME and the like.',
        { TOKEN: '${TOKEN}' },
        'variable names with text values',
      ),
      cwd: key(
        text().optional(),
        'Folder to start the program in, relative to this file. Default: the folder of this file.',
        'data',
      ),
      url: httpUrlKey('URL of a server that is already running (Streamable HTTP).', 'https://mcp.example.com/mcp'),
      headers: headers(),
      auth: key(
        z.strictObject(authKeys).optional(),
        'Sign in to the server with OAuth: `quarterdeck connect mcp NAME`, or the agent’s page in the console.',
        { per: 'server' },
        'per, client_id, client_secret, scope and allow_private, or {}',
      ),
      allow: globs('Tools to offer to the model. Default: all.', 'read_*', nameList),
      deny: globs('Tools not to offer, even if `allow` names them.', 'delete_*', nameList),
      prefix: key(
        z.string().regex(TOOL_NAME).optional(),
        'Text to put before the name of every tool.',
        'files_',
        toolNameWords,
      ),
      trust_hints: key(
        z.boolean().default(false),
        'Trust what the server says about the effect of its tools (readOnlyHint, idempotentHint).',
        true,
      ),
      resources: key(z.boolean().default(false), 'Offer the server’s resources as tools.', true),
      prompts: key(z.boolean().default(false), 'Offer the server’s prompts as tools.', true),
      tools: key(
        z.record(z.string(), z.strictObject(ruleKeys)).default({}),
        'For single tools, by the server’s own names: `effect`, `risk`, `approval`, `timeout`, `retries`, `predict_state`.',
        { write_file: { risk: 'critical' } },
        'tool names with keys such as effect and risk',
      ),
      ...serverRules,
    })
    .superRefine((tool, context) => {
      const report = reporter(context)
      checkConnection(tool, report)
      // With trusted hints, the server may still say that a tool is safe to retry.
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

function checkConnection(tool: z.infer<typeof mcpTool>, report: Report): void {
  const { command, url } = tool
  if ((command === undefined) === (url === undefined)) {
    const found = command === undefined ? 'neither' : 'both'
    report(
      [],
      `expected exactly one of command and url, found ${found}. Write e.g. command: npx, or url: https://mcp.example.com/mcp`,
    )
    return
  }
  // A path may contain spaces; a plain program name may not.
  if (command !== undefined && /\s/.test(command.trim()) && !/[\\/]/.test(command.split(/\s/, 1)[0] ?? '')) {
    report('command', 'command is the program alone. Put its arguments in args, e.g. args: [ -y, a-server ]')
  }
  if (url !== undefined && /^https?:\/\/[^/?#]*@/i.test(url)) {
    report(
      'url',
      `a url must not contain a user name or password. Put them in headers, e.g. Authorization: Basic \${MY_CREDENTIALS}`,
    )
  }
  if (tool.auth !== undefined) checkAuth(tool, report)
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

function checkAuth({ url, headers: sent = {}, auth }: z.infer<typeof mcpTool>, report: Report): void {
  if (url === undefined) {
    report('auth', 'a server started by a command has no sign-in. Remove auth, or pass its token in env')
  } else if (Object.keys(sent).some((header) => header.toLowerCase() === 'authorization')) {
    report('auth', 'the header Authorization is the sign-in already. Remove auth, or the header')
  } else if (!url.startsWith('https:') && !isLoopback(new URL(url).hostname)) {
    report('auth', 'a token must not travel in the clear. Write the url with https')
  }
  if (auth?.client_secret !== undefined && auth.client_id === undefined) {
    report(['auth', 'client_secret'], 'a secret belongs to a client id. Write client_id too, or remove it')
  }
}
