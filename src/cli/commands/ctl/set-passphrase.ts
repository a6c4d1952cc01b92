import { existsSync } from 'node:fs'
import { findConfigDir } from '../../../config/config-dir.ts'
import { createPassphrase, type PassphraseOptions } from '../../../http/auth/passphrase/passphrase.ts'
import { makeFolder } from '../../../store/make-folder.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { ctlPlace } from './ctl-place.ts'
import { typedSecrets } from './typed-secret.ts'

interface Options {
  dataDir?: string
  passphraseFd?: string
  /** For tests. */
  cost?: PassphraseOptions['cost']
}

/** Gives the new passphrase back. */
export async function setPassphrase({ dataDir: flag, passphraseFd, cost }: Options, io: Io): Promise<string> {
  const { dataDir } = await ctlPlace({ dataDir: flag }, io)
  if (!existsSync(dataDir)) {
    throw new CliError(exitCodes.usage.code, `There is no data of Quarterdeck in ${dataDir}.`, [
      'Start the server once, or name the folder: --data-dir <folder> (a server prints it when it starts).',
    ])
  }
  const configDir = findConfigDir(io.env, process.platform)
  const passphrase = createPassphrase({
    configDir,
    dataDir,
    makeFolder,
    clock: io.clock,
    ...(cost === undefined ? {} : { cost }),
  })
  const isChange = passphrase.isSet()
  const source = { fd: passphraseFd, flag: '--passphrase-fd' }
  const labels = isChange ? ['Old passphrase: ', 'New passphrase: '] : ['New passphrase: ']
  // A person who types blindly is asked twice.
  const asked = passphraseFd === undefined ? [...labels, 'Again: '] : labels
  const typed = await typedSecrets(asked, source, io)
  const [old = '', next = old] = isChange ? typed : ['', ...typed]
  if (passphraseFd === undefined && typed.at(-1) !== next) {
    throw new CliError(exitCodes.failed.code, 'The two are not the same. Nothing has changed.')
  }
  await (isChange ? passphrase.change(old, next) : passphrase.set(next))
  io.stderr.write(`The passphrase is ${isChange ? 'changed' : 'set'}. Only its hash is kept, in ${passphrase.path}.\n`)
  return next
}
