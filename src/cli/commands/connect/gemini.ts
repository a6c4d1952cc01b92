import { join } from 'node:path'
import { editJson, trimJson } from './edit-json.ts'
import { dropHooks, hookedFolders, setHooks } from './hook-entries.ts'
import {
  HOST_LIMIT_SECONDS,
  type HostAdapter,
  type HostSetup,
  NOTICE_LIMIT_SECONDS,
  SERVER_NAME,
} from './host-adapter.ts'

const PLACE = ['mcpServers', SERVER_NAME]

function serverEntry({ server }: HostSetup): Record<string, unknown> {
  // Our tools can only ask and report, so Gemini CLI need not confirm them.
  const shared = { timeout: HOST_LIMIT_SECONDS * 1_000, trust: true }
  if (server.type === 'http') {
    return { httpUrl: server.url, headers: { Authorization: `Bearer ${server.token}` }, ...shared }
  }
  return { command: server.command, args: server.args, env: server.env, ...shared }
}

function hookEntries({ hook }: HostSetup): Record<string, unknown> {
  const entry = (event: string, isQuestion: boolean, seconds: number) => ({
    ...(isQuestion ? { matcher: '*' } : {}),
    hooks: [{ name: SERVER_NAME, type: 'command', command: hook(event, isQuestion), timeout: seconds * 1_000 }],
  })
  return {
    BeforeTool: entry('BeforeTool', true, HOST_LIMIT_SECONDS),
    SessionStart: entry('SessionStart', false, NOTICE_LIMIT_SECONDS),
    SessionEnd: entry('SessionEnd', false, NOTICE_LIMIT_SECONDS),
    AfterAgent: entry('AfterAgent', false, NOTICE_LIMIT_SECONDS),
    Notification: entry('Notification', false, NOTICE_LIMIT_SECONDS),
  }
}

export const gemini: HostAdapter = {
  title: 'Gemini CLI',
  edits({ home }) {
    const settings = join(home, '.gemini', 'settings.json')
    return [
      {
        path: settings,
        what: 'MCP server and hooks',
        apply: (text, setup) =>
          editJson(text, settings, (json) => {
            json.set(PLACE, serverEntry(setup))
            setHooks(json, hookEntries(setup))
          }),
        remove: (text, target) =>
          trimJson(text, settings, (json) => {
            dropHooks(json, target)
            if (target.isLast) json.remove(PLACE)
          }),
      },
    ]
  },
  offSwitches: ({ home, workspace }) =>
    [home, workspace].map((folder) => ({
      path: join(folder, '.gemini', 'settings.json'),
      key: ['hooksConfig', 'enabled'],
      off: false,
    })),
  connected: ([settings = '{}']) => hookedFolders(settings),
  notes: [
    'Gemini CLI asks before every tool call, and then may still ask you at its terminal. It refuses a call if the hook says so or ends with code 2, and not if it is too late.',
    'It does not ask where hooksConfig.enabled is false.',
  ],
}
