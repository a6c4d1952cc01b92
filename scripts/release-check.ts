// `npm run release:check`: what is missing before a release. Each check prints one line: `ok`, `missing` with what to do, or `not checked`.
// Ends with 1 if something is missing. It builds the package, and the image where that is possible, so it takes some minutes.

import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { type Sbom, sbom } from './sbom.ts'
import { thirdPartyNotices } from './third-party-notices.ts'
import { changeOf, hasRaised, PUBLIC_FILES, partToRaise } from './version-rule.ts'

/** A checkout, as the checks see it. */
export interface Checkout {
  /** The text of a file; empty if there is none. */
  read(path: string): string
  workflows: readonly string[]
  /** The files that `npm pack` takes. */
  packed: readonly string[]
  notices(): string
  sbom(): Pick<Sbom, 'components'>
  /** Runs a program and waits for it. `said`: what it printed, errors included. */
  run(program: string, args: readonly string[], folder?: string): { code: number | null; said: string }
}

export interface Finding {
  status: 'ok' | 'missing' | 'not checked'
  says: string
}

interface Manifest {
  version?: string
  repository?: { url?: string }
  publishConfig?: { access?: string; provenance?: boolean }
}

const ok = (says: string): Finding => ({ status: 'ok', says })
const notChecked = (says: string): Finding => ({ status: 'not checked', says })
const missing = (says: string, places: readonly string[] = []): Finding => ({
  status: 'missing',
  says: [says, ...places].join(`\n${' '.repeat(15)}`),
})

const CLIENT = 'packages/client/package.json'
const MANIFESTS = ['package.json', CLIENT]
const CHART = 'deploy/helm/quarterdeck/Chart.yaml'
/** Only people with a clone need this page. */
const FOR_CLONES = 'README.md → CONTRIBUTING.md'

/** Warnings of npm that are not about the package. */
const OF_THIS_MACHINE = /logged in|Unknown (?:env|user|global) config/

const manifestOf = (checkout: Checkout, path: string): Manifest => JSON.parse(checkout.read(path))
const versionOf = (checkout: Checkout): string => manifestOf(checkout, 'package.json').version ?? ''
const lastLines = (text: string): string[] => text.trim().split('\n').slice(-5)

/** In the order of the output. */
export const checks: Readonly<Record<string, (checkout: Checkout) => Finding>> = {
  repository(checkout) {
    const urls = MANIFESTS.map((path) => manifestOf(checkout, path).repository?.url ?? '')
    const without = MANIFESTS.filter((_, i) => !/^git\+https:\/\/[^/]+\/.+\.git$/.test(urls[i] ?? ''))
    const form = '"repository": { "type": "git", "url": "git+https://HOST/OWNER/NAME.git" }'
    if (without.length > 0) return missing(`the owner writes its public address into ${without.join(' and ')}: ${form}`)
    return urls[0] === urls[1] ? ok(`${urls[0]}`) : missing(`write the same address into ${MANIFESTS.join(' and ')}`)
  },

  version(checkout) {
    const version = versionOf(checkout)
    const others = {
      [CLIENT]: manifestOf(checkout, CLIENT).version,
      'package-lock.json': manifestOf(checkout, 'package-lock.json').version,
      [`${CHART} (version)`]: /^version: (.+)$/m.exec(checkout.read(CHART))?.[1],
      [`${CHART} (appVersion)`]: /^appVersion: "(.+)"$/m.exec(checkout.read(CHART))?.[1],
    }
    const wrong = Object.entries(others).flatMap(([place, one]) => (one === version ? [] : [place]))
    return wrong.length === 0 ? ok(version) : missing(`write ${version} into ${wrong.join(', ')}`)
  },

  'semantic version'(checkout) {
    const tag = checkout.run('git', ['describe', '--tags', '--abbrev=0', '--match', 'v*'])
    if (tag.code !== 0) return ok('there is no tag v*: a first release has nothing to be compared with')
    const last = tag.said.trim()
    const version = versionOf(checkout)
    const low = Object.keys(PUBLIC_FILES).flatMap((file) => {
      const before = checkout.run('git', ['show', `${last}:${file}`])
      if (before.code !== 0) return []
      const part = partToRaise(changeOf(file, before.said, checkout.read(file)), last.slice(1))
      return hasRaised(part, last.slice(1), version) ? [] : [`${file}: at least the ${part} number`]
    })
    if (low.length === 0) return ok(`${version} fits what has changed since ${last}`)
    return missing(`${version} is too near to ${last} (docs/understand/versions.md). Raise it for`, low)
  },

  changelog(checkout) {
    const version = versionOf(checkout)
    const headings = checkout.read('CHANGELOG.md').split('\n')
    const date = headings.find((line) => line.startsWith(`## ${version} - `))?.slice(version.length + 6) ?? ''
    if (/^\d{4}-\d\d-\d\d$/.test(date)) return ok(`${version} of ${date}`)
    return missing(`CHANGELOG.md needs a heading with the day of the release: ## ${version} - YYYY-MM-DD`)
  },

  licences(checkout) {
    const without = ['LICENSE', 'packages/client/LICENSE'].filter(
      (file) => !checkout.read(file).includes('MIT License'),
    )
    if (without.length > 0) return missing(`put the text of the MIT licence into ${without.join(' and ')}`)
    if (checkout.read('THIRD-PARTY-NOTICES.md') !== checkout.notices()) {
      return missing('THIRD-PARTY-NOTICES.md is not what the lockfile asks for: npm run notices')
    }
    const unpacked = ['LICENSE', 'THIRD-PARTY-NOTICES.md'].filter((file) => !checkout.packed.includes(file))
    if (unpacked.length > 0) return missing(`add ${unpacked.join(' and ')} to "files" of package.json`)
    return ok('LICENSE and THIRD-PARTY-NOTICES.md are complete and packed')
  },

  'bill of materials'(checkout) {
    const { components } = checkout.sbom()
    const bare = components.filter(({ hashes, licenses }) => hashes === undefined || licenses.length === 0)
    const names = bare.map(({ name, version }) => `${name} ${version}`)
    if (bare.length > 0) return missing('package-lock.json has no hash or no licence: npm install, for', names)
    if (!checkout.packed.includes('dist/sbom.cdx.json')) return missing('"prepack" must run scripts/sbom.ts')
    return ok(`dist/sbom.cdx.json has ${components.length} packages`)
  },

  image(checkout) {
    if (!/\bnpm pack\b/.test(checkout.read('Dockerfile'))) return missing('the Dockerfile must use what npm pack makes')
    const allowed = checkout.read('.dockerignore').split('\n')
    const sources = checkout.packed.map((path) => `!${path.split('/')[0]}`).filter((one) => one !== '!dist')
    const hidden = [...new Set(sources)].filter((one) => !allowed.includes(one))
    if (hidden.length > 0) return missing('.dockerignore keeps packed files from the Dockerfile. Add', hidden)
    const { code, said } = checkout.run('npm', ['run', '--silent', 'test:image'])
    const [, reason] = /neither built nor tried: (.+)/.exec(said) ?? []
    if (reason !== undefined) return notChecked(`${reason}. Then: npm run test:image`)
    return code === 0 ? ok('it was built and tried') : missing('npm run test:image fails', lastLines(said))
  },

  provenance(checkout) {
    const wanted = '{"access":"public","provenance":true}'
    const without = MANIFESTS.filter((path) => JSON.stringify(manifestOf(checkout, path).publishConfig) !== wanted)
    if (without.length > 0) return missing(`write "publishConfig": ${wanted} into ${without.join(' and ')}`)
    const publishing = checkout.workflows.filter((path) => checkout.read(path).includes('npm publish'))
    if (publishing.length === 0) return notChecked('no file in .github/workflows publishes. RELEASING.md: Provenance')
    const weak = publishing.filter((path) => !checkout.read(path).includes('id-token: write'))
    if (weak.length > 0) return missing(`add "id-token: write" to the permissions in ${weak.join(' and ')}`)
    return ok(`publishConfig asks for it, ${publishing.join(' and ')} may give it`)
  },

  links(checkout) {
    const isThere = (path: string) => checkout.packed.some((one) => one === path || one.startsWith(`${path}/`))
    const pages = checkout.packed.filter((path) => path.endsWith('.md') && path !== 'THIRD-PARTY-NOTICES.md')
    const broken = pages.flatMap((page) => {
      const text = checkout.read(page).replace(/^```[\s\S]*?^```$/gm, '')
      const targets = text.matchAll(/(?:\]\(|(?:src|href)=")(?![a-z]+:|\/|#)([^)"\s#]+)/g)
      return [...targets].flatMap(([, target = '']) =>
        isThere(posix.join(posix.dirname(page), target).replace(/\/$/, '')) ? [] : [`${page} → ${target}`],
      )
    })
    const wrong = broken.filter((link) => link !== FOR_CLONES)
    if (wrong.length === 0) return ok(`${pages.length} packed pages link only to what is packed`)
    return missing('packed pages link to what is not packed. Name it as code, or pack it:', wrong)
  },

  publish(checkout) {
    const complaints = ['.', 'packages/client'].flatMap((folder) => {
      const { code, said } = checkout.run('npm', ['publish', '--dry-run', '--loglevel=warn'], folder)
      const lines = said.split('\n').filter((line) => /^npm (?:warn|error)/i.test(line) && !OF_THIS_MACHINE.test(line))
      return [...(code === 0 ? [] : [`it ends with ${code}`, ...lastLines(said)]), ...lines].map(
        (l) => `${folder}: ${l}`,
      )
    })
    if (complaints.length === 0) return ok('npm publish --dry-run has nothing to say')
    return missing('npm publish --dry-run complains in', complaints)
  },
}

function openCheckout(root: string): Checkout {
  const start = (program: string, args: readonly string[], folder: string) =>
    spawnSync(program, args, { cwd: join(root, folder), encoding: 'utf8', maxBuffer: 1e8 })
  const pack = start('npm', ['pack', '--json', '--dry-run'], '.')
  if (pack.status !== 0) throw new Error(`npm pack --dry-run failed:\n${pack.stderr}`)
  const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(pack.stdout)
  return {
    read: (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : ''),
    workflows: globSync('.github/workflows/*.{yml,yaml}', { cwd: root }),
    packed: files.map(({ path }) => path),
    notices: () => thirdPartyNotices(root),
    sbom: () => sbom(root),
    run(program, args, folder = '.') {
      const { status, stdout, stderr } = start(program, args, folder)
      return { code: status, said: `${stdout}${stderr}` }
    },
  }
}

if (import.meta.main) {
  const checkout = openCheckout(join(import.meta.dirname, '..'))
  for (const [name, check] of Object.entries(checks)) {
    const { status, says } = check(checkout)
    if (status === 'missing') process.exitCode = 1
    process.stdout.write(`${status.padEnd(11)}  ${name}: ${says}\n`)
  }
}
