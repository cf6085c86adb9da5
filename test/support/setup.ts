import fc from 'fast-check';

// Generated scripts are as long as their `maxLength` says; ten steps, the default, find little.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });
