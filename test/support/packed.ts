import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Packs the package and installs it in an empty project. */
export interface Installation {
  /** A folder that looks like the package. */
  readonly packageFolder: string;
  /** An empty folder: the project. */
  readonly project: string;
  /** The project's `package.json`. */
  readonly manifest: object;
  /** Folders of packages to install with it, so that no network is needed. */
  readonly peers: readonly string[];
}

/** @returns the files of the package */
export function installPacked(installation: Installation): string[] {
  const { packageFolder, project, manifest, peers } = installation;
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const options = ['--json', '--ignore-scripts', '--pack-destination', project];
  const [packed]: [Packed] = JSON.parse(npm(packageFolder, 'pack', packageFolder, ...options));
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  const paths = [join(project, packed.filename), ...peers];
  npm(project, 'install', '--offline', '--no-audit', '--no-fund', ...paths);
  return packed.files.map(({ path }) => path);
}
