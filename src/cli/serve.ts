import { networkInterfaces } from 'node:os'
import { Command } from 'commander'
import type { SettingFlags } from '../config/settings.ts'
import { banner } from './banner.ts'
import type { Io, Settle } from './io.ts'
import { loadConfig } from './load-config.ts'
import { isPortInUse, portInUse } from './port-in-use.ts'
import { createServerLog } from './server-log.ts'
import { addSettingFlags, settingFlagsOf } from './setting-flags.ts'
import { shownUrl } from './shown-url.ts'
import type { StartApp } from './start-app.ts'
import { untilStopped } from './stop.ts'
import { styleFor } from './style.ts'

export interface ServeRequest {
  files: readonly string[]
  flags: SettingFlags
  config?: string
}

export function createServeCommand(version: string, startApp: StartApp, io: Io, settle: Settle): Command {
  const command = new Command('serve')
    .summary('serve agents over AG-UI and HTTP')
    .description(
      'Serves agents until it is stopped. Without a file: agent.yaml of this folder, else the agent that the environment ' +
        'describes (LLM_PROVIDER, LLM_MODEL, OPENAI_API_KEY, …), else the built-in demo agent.',
    )
    .argument('[files...]', 'agent files, or folders of them')
    .option('--config <file>', 'the settings file (default: quarterdeck.yaml here or beside the agent)')
  return addSettingFlags(command)
    .addHelpText(
      'after',
      `
Flags win over the environment, the environment over quarterdeck.yaml. Tokens are never flags: set QUARTERDECK_TOKEN
and QUARTERDECK_OPERATOR_TOKEN, or take those that the first start makes and keeps in the data directory.

Examples:
  $ quarterdeck serve
  $ quarterdeck serve agent.yaml --port 8080 --open
  $ quarterdeck serve agents/ --host 0.0.0.0 --allowed-hosts agent.example.com`,
    )
    .action(async (files: string[], { config }: { config?: string }) => {
      const request = { files, flags: settingFlagsOf(command), ...(config === undefined ? {} : { config }) }
      settle(await serve(request, version, startApp, io))
    })
}

/** Starts a server, says where it is and stays until it is stopped. */
export async function serve(request: ServeRequest, version: string, startApp: StartApp, io: Io): Promise<number> {
  const began = io.clock.mono()
  const config = loadConfig(
    {
      files: request.files,
      flags: request.flags,
      ...(request.config === undefined ? {} : { settingsFile: request.config }),
    },
    io,
  )
  const { settings, agents } = config
  const style = styleFor(io.stderr, io.env)
  for (const warning of config.warnings) io.stderr.write(`${style.yellow('warning:')} ${warning}\n`)

  const log = createServerLog(config, io)
  const app = await startApp(config, log, io)
  let url: string
  try {
    url = shownUrl((await app.listen()).url, networkInterfaces())
  } catch (error) {
    await app.close({ drainMs: 0 })
    throw isPortInUse(error) ? await portInUse(settings.host, settings.port) : error
  }
  // Whoever reads that it is ready may stop it the next moment.
  const stopped = untilStopped(app, settings.shutdown.drainMs, log, io)
  io.stdout.write(
    banner(
      {
        version,
        url,
        agents,
        protocols: app.doors,
        dataDir: settings.store === ':memory:' ? null : config.dataDir,
        newToken: settings.auth.required ? app.newToken : null,
        readyMs: io.clock.mono() - began,
      },
      io,
    ),
  )
  if (settings.open)
    io.openUrl(app.newToken === null || !settings.auth.required ? url : `${url}/#token=${app.newToken}`)
  return await stopped
}
