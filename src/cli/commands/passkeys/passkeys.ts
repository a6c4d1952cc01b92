import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { findConfigDir } from '../../../config/config-dir.ts'
import { isoTime } from '../../../domain/clock.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { openConfigRecords } from '../../../http/auth/config-folder/config-records.ts'
import { createPasskeys, listPasskeys, type Passkey, type Passkeys } from '../../../http/auth/console/passkeys.ts'
import { createLocalShared } from '../../../store/local-shared.ts'
import { makeFolder } from '../../../store/make-folder.ts'
import type { Store } from '../../../store/store.ts'
import { cannotCreate, failure } from '../../cli-error.ts'
import { type CommandContext, examples } from '../../command.ts'
import { isLocked, noData, withStore } from '../../data-directory.ts'
import { type StoreFlags, storePlace, withSharedReads, withSharedStore, writeAudit } from '../../store-place.ts'
import type { Io } from '../../terminal/io.ts'
import { confirm, hasTerminal } from '../../terminal/terminal-prompt.ts'
import { localMinute, localZone, terminalLine, textTable } from '../../terminal/terminal-text.ts'
import { ctlPlace } from '../ctl/ctl-place.ts'

const DATA_DIR = 'the data directory of the server (default: the one that serve uses here)'

export function createPasskeysCommand({ io }: CommandContext): Command {
  const command = new Command('passkeys')
    .summary('list passkeys, and remove a lost one')
    .description(
      'Passkeys are added and removed in the console. These commands are for a passkey that is lost: without it, nobody could remove it ' +
        'there. They work in the server’s config folder, and removing only while the server is stopped and at a terminal. With ' +
        'QUARTERDECK_STORE=postgres://… they work in that database, also while servers run.',
    )
    .addHelpText('after', examples('passkeys list', 'passkeys remove 0192f3a1-7b2c-7def-8abc-0123456789ab'))
  command
    .command('list')
    .description('Lists all passkeys, oldest first.')
    .option('--data-dir <folder>', DATA_DIR)
    .option('--json', 'one JSON object a line')
    .action(async (options: StoreFlags & { json?: boolean }) => {
      const place = await storePlace(options, io)
      const all =
        'url' in place
          ? await withSharedReads(place, io, ({ shared }) => listPasskeys(shared))
          : await passkeysIn(await placeOf(options, io), io).list()
      list(all, options.json === true, io)
    })
  command
    .command('remove')
    .description('Removes a passkey. After the last one, nothing needs a passkey any more.')
    .argument('<id>', 'the id of the passkey, from passkeys list')
    .option('--data-dir <folder>', DATA_DIR)
    .action(async (id: string, options: StoreFlags) => {
      // A program could type the word. An agent usually has no terminal.
      if (!hasTerminal(io)) {
        throw failure('A passkey is removed only at a terminal, by a person.')
      }
      const place = await storePlace(options, io)
      if ('url' in place)
        await withSharedStore(place, io, ({ store }) => remove(id, store, createPasskeys(store.shared), io))
      else await removeInFolder(id, await placeOf(options, io), io)
    })
  return command
}

async function placeOf(options: StoreFlags, io: Io): Promise<string> {
  const { dataDir } = await ctlPlace(options, io)
  if (existsSync(dataDir)) return dataDir
  throw noData(dataDir)
}

function passkeysIn(dataDir: string, io: Io): Passkeys {
  const place = { configDir: findConfigDir(io.env, process.platform), dataDir, makeFolder }
  return createPasskeys(createLocalShared(io.clock, openConfigRecords(place, silentLogger).kinds))
}

function list(passkeys: readonly Passkey[], json: boolean, io: Io): void {
  if (passkeys.length === 0 && !json) {
    io.stderr.write('There are no passkeys. You add one in the console: Settings, Passkeys.\n')
    return
  }
  const shown = passkeys.map(({ id, user, label, rpId, createdAt, lastUsedAt }) => ({
    passkey_id: id,
    user,
    label,
    host: rpId,
    created_at: isoTime(createdAt),
    last_used_at: lastUsedAt === null ? null : isoTime(lastUsedAt),
  }))
  if (json) {
    for (const one of shown) io.stdout.write(`${JSON.stringify(one)}\n`)
    return
  }
  const rows = shown.map((one) => [
    terminalLine(one.passkey_id, 64),
    terminalLine(one.user, 64),
    terminalLine(one.host, 64),
    localMinute(one.created_at),
    one.last_used_at === null ? 'never' : localMinute(one.last_used_at),
    terminalLine(one.label, 64),
  ])
  io.stdout.write(textTable(['ID', 'USER', 'HOST', `CREATED (${localZone()})`, 'LAST USED', 'NAME'], rows))
}

async function removeInFolder(id: string, dataDir: string, io: Io): Promise<void> {
  try {
    await withStore(dataDir, { create: false }, io, (store) => remove(id, store, passkeysIn(dataDir, io), io))
  } catch (error) {
    if (!isLocked(error)) throw error
    throw cannotCreate(`A server is using ${dataDir}. Stop it, then run this command again.`, [
      'Whoever has another passkey removes this one in the console: Settings, Passkeys.',
    ])
  }
}

async function remove(id: string, store: Pick<Store, 'commit'>, passkeys: Passkeys, io: Io): Promise<void> {
  const all = await passkeys.list()
  const found = all.find((one) => one.id === id)
  if (found === undefined) {
    throw failure(`There is no passkey ${JSON.stringify(id)}.`, ['To see their ids: quarterdeck passkeys list'])
  }
  const last = all.length === 1 ? ' It is the last one: nothing will need a passkey any more.' : ''
  io.stdout.write(
    `${terminalLine(found.label || 'A passkey', 64)} of ${terminalLine(found.user, 64)} for ${terminalLine(found.rpId, 64)}.${last}\n`,
  )
  await confirm('Remove it?', io)
  // First, so that no passkey goes that is not in the trail.
  const about = { session: null, run: null, agent: '', tool: '', call: null }
  const details = { passkey: found.id, user: found.user, channel: 'command line' }
  const record = { at: io.clock.now(), kind: 'passkey_removed' as const, by: 'command line', ...about, details }
  await writeAudit(store, record)
  await passkeys.remove(id)
  io.stdout.write('Removed.\n')
}
