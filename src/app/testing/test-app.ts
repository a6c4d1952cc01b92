import { silentLogger } from '../../domain/logger.ts'
import { appDefaults } from '../app-options.ts'

/** What tests give every app. */
export const testAppOptions = () => ({
  ...appDefaults(),
  version: '0.0.0-test',
  log: silentLogger,
  exit(code: number): never {
    throw new Error(`the server wanted to exit with ${code}`)
  },
})
