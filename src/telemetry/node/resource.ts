import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ResourceDetector } from '@opentelemetry/resources';
import type { Packages } from './packages.ts';
import type { StartOptions } from './start-options.ts';

/**
 * Attributes that distinguish this process from others of the same name: without them all would
 * report the same series. OTEL_RESOURCE_ATTRIBUTES takes precedence.
 */
export function resourceOf({ resources }: Packages, { serviceVersion }: StartOptions) {
  const version = serviceVersion ?? process.env.npm_package_version;
  const own = resources.resourceFromAttributes({
    'service.instance.id': randomUUID(),
    'host.name': hostname(),
    ...(version !== undefined && { 'service.version': version }),
  });
  return own.merge(resources.detectResources({ detectors: [resources.envDetector] }));
}

/** The SDK's detectors, without the program's arguments: these may contain a key or a password. */
export function detectorsOf({ resources }: Packages): ResourceDetector[] {
  const { envDetector, processDetector, hostDetector } = resources;
  const program: ResourceDetector = {
    detect: (config) => {
      const { 'process.command_args': _, ...attributes } =
        processDetector.detect(config).attributes ?? {};
      return { attributes };
    },
  };
  return [envDetector, program, hostDetector];
}
