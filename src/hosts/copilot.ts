import { join } from 'node:path'
import { variable } from '../config/source/env-file.ts'
import {
  bearer,
  HOST_LIMIT_SECONDS,
  type Host,
  type HostPlaces,
  type HostSetup,
  keepsKeys,
  mcpFile,
  NOTICE_LIMIT_SECONDS,
  SERVER_NAME,
  usualWords,
} from './host.ts'

const fileOf = ({ home, env }: HostPlaces, name: string): string =>
  join(variable(env, 'COPILOT_HOME') ?? join(home, '.copilot'), name)

function serverEntry({ server }: HostSetup) {
  const shared = { tools: ['*'], timeout: HOST_LIMIT_SECONDS * 1_000 }
  if (server.type === 'http') return { type: 'http', url: server.url, headers: bearer(server.token), ...shared }
  return { type: 'local', command: server.command, args: server.args, env: server.env, ...shared }
}

function hookEntries({ hook }: HostSetup) {
  const entry = (event: string, isQuestion: boolean, timeoutSec: number) => ({
    type: 'command',
    bash: hook(event, isQuestion),
    timeoutSec,
  })
  return {
    // With a capital letter, Copilot CLI sends the same input as Claude Code does, with the name of the event in it.
    PreToolUse: entry('PreToolUse', true, HOST_LIMIT_SECONDS),
    SessionStart: entry('SessionStart', false, NOTICE_LIMIT_SECONDS),
    SessionEnd: entry('SessionEnd', false, NOTICE_LIMIT_SECONDS),
    Stop: entry('Stop', false, NOTICE_LIMIT_SECONDS),
  }
}

export const copilot: Host = {
  title: 'Copilot CLI',
  configFiles: (at) => [
    {
      path: fileOf(at, 'mcp-config.json'),
      format: 'json',
      server: { keys: () => ['mcpServers', SERVER_NAME], entry: serverEntry, isOfFolder: false },
      hooks: null,
    },
    { path: fileOf(at, 'settings.json'), format: 'json', server: null, hooks: hookEntries },
  ],
  offSwitches: (at) => [{ path: fileOf(at, 'settings.json'), key: ['disableAllHooks'], off: true }],
  notes: [
    'Copilot CLI asks before every tool call, also with --allow-all-tools. It refuses a call if the hook fails, but not if the hook is too late.',
    'It does not ask where disableAllHooks is set.',
  ],
  ownFolders: ['.copilot', '.cache', '.config/github-copilot'],
  launch: (request) => ({
    args: [
      '--additional-mcp-config',
      `@${request.file('mcp.json')}`,
      '--allow-tool',
      SERVER_NAME,
      ...request.extraArgs,
    ],
    files: { 'mcp.json': mcpFile(request, { tools: ['*'] }) },
    stdin: request.prompt,
  }),
  hook: {
    ...usualWords,
    reading: ['Read', 'Glob', 'Grep', 'view', 'glob', 'grep', 'report_intent', 'update_todo', 'ask_user'],
    canChange: keepsKeys,
    // It tells the model the reason only from the JSON, and reads the JSON only without an exit code.
    denialExitCode: 0,
  },
  call: { client: /^copilot-cli\b|^github-copilot/, seconds: 180, isExtended: true },
  reads: { folder: '.copilot', files: /^copilot(?:\.local|\.override)?\.md$/ },
}
