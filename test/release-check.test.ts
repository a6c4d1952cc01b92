import { describe, expect, test } from 'vitest'
import { type Checkout, checks, type Finding } from '../scripts/release-check.ts'

const manifest = (more: object = {}) =>
  JSON.stringify({
    version: '1.1.0',
    repository: { type: 'git', url: 'git+https://host.example/owner/name.git' },
    publishConfig: { access: 'public', provenance: true },
    ...more,
  })

const files: Record<string, string> = {
  'package.json': manifest(),
  'packages/client/package.json': manifest(),
  'package-lock.json': manifest(),
  'deploy/helm/quarterdeck/Chart.yaml': 'version: 1.1.0\nappVersion: "1.1.0"\n',
  'CHANGELOG.md': '## 1.1.0 - 2026-11-20\n\n## 1.0.0 - 2026-11-18\n',
  LICENSE: 'MIT License',
  'packages/client/LICENSE': 'MIT License',
  'THIRD-PARTY-NOTICES.md': 'Notices',
  Dockerfile: 'RUN npm pack\n',
  '.dockerignore': '*\n!CHANGELOG.md\n!LICENSE\n!README.md\n!THIRD-PARTY-NOTICES.md\n!docs\n',
  '.github/workflows/release.yml': 'permissions: { id-token: write }\nsteps: npm publish\n',
  'README.md': '[a](docs/a.md#b) [folder](docs/) [web](https://x.example) [c](CONTRIBUTING.md) <img src="docs/p.svg">',
  'docs/a.md': '[up](../README.md)\n```\n[code](nowhere.md)\n```\n',
  'docs/public-types.txt': 'export const a: string; b: string;',
}

interface Change {
  files?: Record<string, string>
  packed?: readonly string[]
  hash?: undefined
  image?: { code: number; said: string }
  publish?: { code: number; said: string }
  tag?: { code: number; said: string }
}

const packed = [
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'THIRD-PARTY-NOTICES.md',
  'docs/a.md',
  'docs/p.svg',
  'dist/sbom.cdx.json',
]

/** A checkout that is ready, except for the change. */
function checkoutWith(change: Change): Checkout {
  const all = { ...files, ...change.files }
  const component = { type: 'library', 'bom-ref': 'p', name: 'p', version: '1.0.0', purl: 'p' } as const
  const hashes = 'hash' in change ? {} : { hashes: [{ alg: 'SHA-512' as const, content: 'x' }] }
  return {
    read: (path) => all[path] ?? '',
    workflows: Object.keys(all).filter((path) => path.startsWith('.github/workflows/') && all[path] !== ''),
    packed: change.packed ?? packed,
    notices: () => 'Notices',
    sbom: () => ({ components: [{ ...component, ...hashes, licenses: [{ expression: 'MIT' }] }] }),
    run(_, [command = '', ...args]) {
      if (command === 'describe') return change.tag ?? { code: 0, said: 'v1.0.0\n' }
      if (command === 'show') {
        const isTypes = args[0] === 'v1.0.0:docs/public-types.txt'
        return isTypes ? { code: 0, said: 'export const a: string;' } : { code: 128, said: '' }
      }
      if (command === 'publish')
        return change.publish ?? { code: 0, said: 'npm warn This command requires you to be logged in\n' }
      return change.image ?? { code: 0, said: '' }
    },
  }
}

const find = (name: string, change: Change): Finding | undefined => checks[name]?.(checkoutWith(change))

describe('npm run release:check', () => {
  test('finds nothing in a checkout that is ready', () => {
    const found = Object.entries(checks).map(([name, check]) => [name, check(checkoutWith({})).status])
    expect(found).toEqual(Object.keys(checks).map((name) => [name, 'ok']))
  })

  const noRepository = manifest({ repository: undefined })
  const wrong: [name: string, says: string | RegExp, change: Change][] = [
    [
      'repository',
      /^the owner writes .+ into package\.json: "repository": \{/,
      { files: { 'package.json': noRepository } },
    ],
    [
      'repository',
      'write the same address into package.json and packages/client/package.json',
      { files: { 'package.json': manifest({ repository: { url: 'git+https://host.example/a/b.git' } }) } },
    ],
    [
      'version',
      'write 1.1.0 into packages/client/package.json, deploy/helm/quarterdeck/Chart.yaml (appVersion)',
      {
        files: {
          'packages/client/package.json': manifest({ version: '1.0.0' }),
          'deploy/helm/quarterdeck/Chart.yaml': 'version: 1.1.0\n',
        },
      },
    ],
    [
      'semantic version',
      /^1\.1\.0 is too near to v1\.0\.0 .+\n +docs\/public-types\.txt: at least the major number$/,
      { files: { 'docs/public-types.txt': 'export const c: string;' } },
    ],
    [
      'changelog',
      /day of the release: ## 1\.1\.0 - YYYY-MM-DD$/,
      { files: { 'CHANGELOG.md': '## 1.1.0 - unreleased\n## 1.0.0 - 2026-11-18\n' } },
    ],
    ['changelog', /## 1\.1\.0/, { files: { 'CHANGELOG.md': '## 1.0.0 - 2026-11-18\n' } }],
    [
      'licences',
      'put the text of the MIT licence into packages/client/LICENSE',
      { files: { 'packages/client/LICENSE': '' } },
    ],
    ['licences', /npm run notices$/, { files: { 'THIRD-PARTY-NOTICES.md': 'Old' } }],
    ['licences', 'add THIRD-PARTY-NOTICES.md to "files" of package.json', { packed: ['LICENSE'] }],
    ['bill of materials', /for\n +p 1\.0\.0$/, { hash: undefined }],
    ['bill of materials', '"prepack" must run scripts/sbom.ts', { packed: ['LICENSE'] }],
    ['image', 'the Dockerfile must use what npm pack makes', { files: { Dockerfile: 'COPY . /app\n' } }],
    ['image', /\n +!schema$/, { packed: [...packed, 'schema/a.json'] }],
    ['image', /^npm run test:image fails\n +boom$/, { image: { code: 1, said: 'boom\n' } }],
    [
      'provenance',
      /^write "publishConfig": .+ into packages\/client\/package\.json$/,
      { files: { 'packages/client/package.json': manifest({ publishConfig: { access: 'public' } }) } },
    ],
    ['provenance', /id-token: write/, { files: { '.github/workflows/release.yml': 'npm publish' } }],
    [
      'links',
      /:\n +README\.md → bench\/RESULTS\.md\n +docs\/a\.md → \.\.\/src$/,
      { files: { 'README.md': '[r](bench/RESULTS.md#a)', 'docs/a.md': '[s](../src)' } },
    ],
    [
      'publish',
      /in\n +\.: npm warn publish "bin" was corrected\n/,
      { publish: { code: 0, said: 'npm warn publish "bin" was corrected\n' } },
    ],
    ['publish', /\.: it ends with 1\n/, { publish: { code: 1, said: 'npm error no\n' } }],
  ]
  test.each(wrong)('%s: %s', (name, says, change) => {
    expect(find(name, change)).toEqual({
      status: 'missing',
      says: typeof says === 'string' ? says : expect.stringMatching(says),
    })
  })

  test('every check can fail', () => {
    expect(new Set(wrong.map(([name]) => name))).toEqual(new Set(Object.keys(checks)))
  })

  test('what cannot be checked here says so', () => {
    const image = { code: 0, said: 'The image was neither built nor tried: there is no buildah\n' }
    expect(find('image', { image })).toEqual({
      status: 'not checked',
      says: 'there is no buildah. Then: npm run test:image',
    })
    expect(find('provenance', { files: { '.github/workflows/release.yml': '' } })?.status).toBe('not checked')
    expect(find('semantic version', { tag: { code: 128, said: '' } })?.status).toBe('ok')
  })
})
